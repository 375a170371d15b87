import { OperatorError } from '../../operator/base/errors';

const EXAMPLE = 'arn:aws:elasticloadbalancing:eu-central-1:123456789012:loadbalancer/net/web/50dc6c495c0c9188';
/** Of a load balancer: region, and what names it; `<type>/<name>/<id>`, of a Classic one the name alone. */
const ARN = /^arn:[^:]+:elasticloadbalancing:([^:]*):[0-9]*:loadbalancer\/(.+)$/;

/**
 * What CloudLoadBalancer.spec.adoptID must look like, before AWS is asked: the ARN of a load balancer of the region, of a Classic one the name. Pure.
 * @throws OperatorError Invalid that says what it is
 */
export function assertOfTheKind(id: string, { classic, region }: { classic: boolean; region: string }): void {
  const [arn, of, name = ''] = ARN.exec(id) ?? [];
  if (classic) {
    if (/^[a-zA-Z0-9-]+$/.test(id)) return;
    const is =
      arn !== undefined && !name.includes('/')
        ? `an ARN; a Classic one is named by its name, ${name}`
        : 'not the name of a Classic load balancer';
    throw notAdoptable(id, is);
  }
  if (arn === undefined) throw notAdoptable(id, `not the ARN of a load balancer, such as ${EXAMPLE}`);
  if (!name.includes('/')) throw notAdoptable(id, `a Classic load balancer; set spec.aws.type: Classic, and name it by its name, ${name}`);
  if (of !== region) throw notAdoptable(id, `in region ${of ?? ''}, and the CloudProvider is in ${region}`);
}

/** @param what it is, in words */
export function notAdoptable(id: string, what: string): OperatorError {
  return new OperatorError('Invalid', `spec.adoptID: ${id} is ${what}`, { field: 'spec.adoptID' });
}
