import { fieldsOf, refusal, type ModelCall } from '../call';
import type { MotoState, Rule } from '../rule';

/** A listener keeps its certificates beside the default one when that is changed, and has each once. moto has neither, and knows no change of a TLS listener. */
export function listenerCertificates(): Rule {
  const kept = new WeakMap<ModelCall, string[]>();
  return {
    async before(call, moto) {
      if (call.service !== 'elbv2') return undefined;
      const { action, parameters } = call;
      if (action === 'AddListenerCertificates') return added(call, moto);
      if (action !== 'ModifyListener' || parameters.get('Protocol') !== 'TLS') return undefined;
      kept.set(call, (await certificatesOf(parameters.get('ListenerArn') ?? '', moto)).slice(1));
      parameters.set('Protocol', 'HTTPS');
      return undefined;
    },
    async after(call, answer, { elb }) {
      const more = kept.get(call) ?? [];
      const ListenerArn = call.parameters.get('ListenerArn') ?? '';
      if (more.length > 0 && answer.status === 200) {
        await elb.addListenerCertificates({ ListenerArn, Certificates: more.map((CertificateArn) => ({ CertificateArn })) });
      }
      if (!['DescribeListeners', 'ModifyListener'].includes(call.action)) return answer;
      return { ...answer, body: answer.body.replaceAll('<Protocol>HTTPS</Protocol>', '<Protocol>TLS</Protocol>') };
    },
  };
}

/** Only TLS listeners have any; one that is there is not added again. */
async function added(call: ModelCall, moto: MotoState): Promise<ReturnType<typeof refusal> | undefined> {
  const { parameters } = call;
  const ListenerArn = parameters.get('ListenerArn') ?? '';
  const { Listeners = [] } = await moto.elb.describeListeners({ ListenerArns: [ListenerArn] }).catch(() => ({ Listeners: [] }));
  if (Listeners.some(({ Protocol = '' }) => !['TLS', 'HTTPS'].includes(Protocol))) {
    return refusal('UnsupportedProtocol', 'Certificates cannot be added to a listener of this protocol');
  }
  const there = await certificatesOf(ListenerArn, moto);
  const added = fieldsOf(call, 'Certificates', 'CertificateArn').filter((arn) => !there.slice(1).includes(arn));
  for (const key of [...parameters.keys()]) if (key.startsWith('Certificates.')) parameters.delete(key);
  added.forEach((arn, index) => parameters.set(`Certificates.member.${index + 1}.CertificateArn`, arn));
  return undefined;
}

/** The default one first. */
async function certificatesOf(ListenerArn: string, { elb }: MotoState): Promise<string[]> {
  const { Certificates = [] } = await elb.describeListenerCertificates({ ListenerArn }).catch(() => ({ Certificates: [] }));
  return Certificates.map(({ CertificateArn = '' }) => CertificateArn);
}
