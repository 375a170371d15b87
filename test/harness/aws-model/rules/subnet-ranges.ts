import type { Rule } from '../rule';

/** A subnet's range of IPv6 says of itself `associated`. moto writes its own record of that state there (5.2.5). */
export function subnetRanges(): Rule {
  return {
    after: ({ action }, answer) =>
      action === 'DescribeSubnets' ? { ...answer, body: answer.body.replaceAll("{'State': 'associated'}", 'associated') } : answer,
  };
}
