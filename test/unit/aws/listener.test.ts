import type { ModifyListenerCommandInput } from '@aws-sdk/client-elastic-load-balancing-v2';
import type { Api } from '../../../providers/aws/resources/description';
import { listener, type ListenerInputs } from '../../../providers/aws/resources/listener';

const ARN = 'arn:aws:elasticloadbalancing:eu-central-1:1:listener/net/web/1/2';
const TLS: ListenerInputs = {
  loadBalancerArn: ARN.replace('listener', 'loadbalancer'),
  port: 443,
  protocol: 'TLS',
  defaultActions: [{ type: 'forward', targetGroupArn: 'arn' }],
  certificateArn: 'arn:aws:acm:eu-central-1:1:certificate/1',
  sslPolicy: 'ELBSecurityPolicy-TLS13-1-2-2021-06',
  tags: {},
};

/** What a change sends of ALPN; undefined = no call. */
async function changed(has: ListenerInputs, wanted: ListenerInputs): Promise<string[] | undefined | 'nothing said'> {
  const sent: ModifyListenerCommandInput[] = [];
  const elb = { modifyListener: (input: ModifyListenerCommandInput) => Promise.resolve(void sent.push(input)) };
  await listener.change(ARN, has, wanted, { elb, options: {} } as unknown as Api);
  return sent.length === 0 ? undefined : (sent[0]?.AlpnPolicy ?? 'nothing said');
}

const ALPN = { ...TLS, alpnPolicy: 'HTTP2Preferred' };

test.each<[string, ListenerInputs, ListenerInputs, string[] | undefined | 'nothing said']>([
  ['a policy that comes', TLS, ALPN, ['HTTP2Preferred']],
  ['a policy that goes, which AWS keeps until it is told', ALPN, TLS, ['None']],
  ['none before and after', TLS, { ...TLS, sslPolicy: 'P' }, 'nothing said'],
  ['TCP, which has none', ALPN, { ...TLS, protocol: 'TCP' }, 'nothing said'],
  ['nothing', ALPN, ALPN, undefined],
])('ALPN of a listener: %s', async (_what, has, wanted, expected) => {
  expect(await changed(has, wanted)).toEqual(expected);
});

test.each([
  ['none', undefined, undefined],
  ['AWS’s word for none', ['None'], undefined],
  ['one', ['HTTP2Only'], 'HTTP2Only'],
])('ALPN as it is in AWS: %s', async (_what, AlpnPolicy, expected) => {
  const raw = { ListenerArn: ARN, Port: 443, Protocol: 'TLS' as const, AlpnPolicy };
  const { inputs } = await listener.describe({ id: ARN, raw, tags: {} }, { options: {} } as unknown as Api);
  expect(inputs.alpnPolicy).toBe(expected);
});
