import { verdictOfError } from '../../../operator/cloud/conditions';
import { OperatorError } from '../../../operator/base/errors';
import { awsFailure } from '../../../providers/aws/client/aws-error';
import type { Api } from '../../../providers/aws/resources/description';
import { withFigures } from '../../../providers/aws/resources/region-figures';

/** What the condition says of AWS's refusal to make one more target group. */
async function said(limits: () => Promise<Map<string, number>>): Promise<string> {
  const thrown = Object.assign(new Error('The maximum number has been reached'), { name: 'TooManyTargetGroupsException' });
  const refusal = awsFailure(thrown, { action: 'elasticloadbalancing:CreateTargetGroup' });
  const elb = { targetGroups: () => Promise.resolve(Array.from({ length: 3000 }, () => ({}))), accountLimits: limits };
  return verdictOfError(await withFigures(refusal, { elb, options: {} } as unknown as Api), true).message;
}

test('a region that has no room for another target group: the condition names the limit with its figures, and the next step', async () => {
  expect(await said(() => Promise.resolve(new Map([['target-groups', 3000]])))).toBe(
    'the region has 3000 target groups, and AWS lets it have 3000 (TooManyTargetGroups). Delete what is no longer needed, or ask AWS for a higher quota (target-groups) in the console under Service Quotas. The last good version keeps serving.',
  );
});

test('where the limits may not be read, the limit by AWS’s own word, and the next step', async () => {
  const words = await said(() => Promise.reject(new OperatorError('Credentials', 'no')));
  expect(words).toContain('elasticloadbalancing:CreateTargetGroup: TooManyTargetGroups');
  expect(words).toContain('Delete what is no longer needed, or ask for a higher quota in the console under Service Quotas');
});
