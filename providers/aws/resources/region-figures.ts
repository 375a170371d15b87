import { OperatorError } from '../../../operator/base/errors';
import { AwsError } from '../client/aws-error';
import type { Api } from './description';

interface Limit {
  /** AWS's name of it. */
  name: string;
  /** What it limits, in words. */
  what: string;
  count(api: Api): Promise<number>;
}

/** By AWS's refusal: what a region has room for, which only AWS can say. */
const LIMITS: Readonly<Record<string, Limit>> = {
  TooManyLoadBalancers: {
    name: 'network-load-balancers',
    what: 'Network Load Balancers',
    count: async ({ elb, options }) => (await elb.loadBalancers({}, options)).filter(({ Type }) => Type === 'network').length,
  },
  TooManyTargetGroups: {
    name: 'target-groups',
    what: 'target groups',
    count: async ({ elb, options }) => (await elb.targetGroups({}, options)).length,
  },
};

/** The same refusal with the region's figures, where it is about these; what can't be found out is left out. */
export async function withFigures(error: OperatorError, api: Api): Promise<OperatorError> {
  const limit = error instanceof AwsError ? LIMITS[error.awsCode] : undefined;
  if (limit === undefined) return error;
  const reads = Promise.all([limit.count(api), api.elb.accountLimits(api.options)]);
  const figures = await reads.then(([count, limits]) => ({ count, most: limits.get(limit.name) })).catch(() => undefined);
  if (figures?.most === undefined) return error;
  const { count, most } = figures;
  const remedy = `Delete what is no longer needed, or ask AWS for a higher quota (${limit.name}) in the console under Service Quotas`;
  const message = `the region has ${count} ${limit.what}, and AWS lets it have ${most} (${(error as AwsError).awsCode}). ${remedy}`;
  return new OperatorError(error.code, message, { cause: error, remedy });
}
