import { OperatorError } from '../../operator/base/errors';

const LOAD_BALANCER = /^arn:[^:]+:elasticloadbalancing:([^:]*):[0-9]*:loadbalancer\/(?:(net|app|gwy)\/)?([^/]+)(?:\/[^/]+)?$/;
const TYPES = { net: 'a Network Load Balancer', app: 'an Application Load Balancer', gwy: 'a Gateway Load Balancer' } as const;

/**
 * What CloudLoadBalancer.spec.adoptID must be, before AWS is asked: the ARN of a Network Load Balancer of the region, of a Classic one the name. Pure.
 * @throws OperatorError Invalid that says what it is of
 */
export function assertOfTheKind(id: string, { classic, region }: { classic: boolean; region: string }): void {
  const [arn, of, type, name] = LOAD_BALANCER.exec(id) ?? [];
  if (classic) {
    if (!id.includes(':') && !id.includes('/')) return;
    throw refusal(
      id,
      type === undefined && name !== undefined ? `an ARN; of a Classic one it is the name: ${name}` : 'no name of a Classic Load Balancer',
    );
  }
  if (arn === undefined)
    throw refusal(
      id,
      'no ARN of a load balancer, such as arn:aws:elasticloadbalancing:eu-central-1:123456789012:loadbalancer/net/web/50dc6c495c0c9188',
    );
  if (type === undefined) throw refusal(id, 'a Classic Load Balancer; with spec.aws.type: Classic, name it by its name');
  if (type !== 'net') throw refusal(id, `${TYPES[type as keyof typeof TYPES]}; only Network and Classic ones can be taken over`);
  if (of !== region) throw refusal(id, `in region ${of ?? ''}, and the CloudProvider is in ${region}`);
}

function refusal(id: string, what: string): OperatorError {
  return new OperatorError('Invalid', `spec.adoptID: ${id} is ${what}`, { field: 'spec.adoptID' });
}
