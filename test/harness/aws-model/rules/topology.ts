import type { Rule } from '../rule';

/** AWS tells the layers of the network of some instance types, and of others nothing. moto does not know the question. */
export function noTopology(): Rule {
  const body = '<DescribeInstanceTopologyResponse><requestId>1</requestId><instanceSet/></DescribeInstanceTopologyResponse>';
  return { before: ({ action }) => (action === 'DescribeInstanceTopology' ? { status: 200, body } : undefined) };
}
