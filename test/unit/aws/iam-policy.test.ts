import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../../../operator/entry';
import { CALLS, type Capability, iamPolicy, type PolicyStatement } from '../../../providers/aws/iam-policy';

const ALL = Object.keys(CALLS) as Capability[];

function statementWith(action: string, capabilities: Capability[]): PolicyStatement[] {
  return iamPolicy(capabilities).Statement.filter(({ Action }) => Action.includes(action));
}

/** What IAM calls the service of a package of the SDK. */
const PREFIXES: Readonly<Record<string, string>> = {
  'client-ec2': 'ec2',
  'client-elastic-load-balancing': 'elasticloadbalancing',
  'client-elastic-load-balancing-v2': 'elasticloadbalancing',
};
const CLIENTS = join(PROJECT_ROOT, 'providers/aws/client');

/** Every command of the SDK that a file makes, as IAM calls its action. */
function actionsIn(file: string): string[] {
  const text = readFileSync(join(CLIENTS, file), 'utf8');
  const [, sdk = ''] = /'@aws-sdk\/(client-[\w-]+)'/.exec(text) ?? [];
  return [...text.matchAll(/new sdk\.(\w+)Command\(/g)].map(
    ([, action = '']) => `${PREFIXES[sdk] ?? `${file}, of no known service`}:${action}`,
  );
}

describe('the IAM policy', () => {
  it('allows every call that the clients can make', () => {
    const used = readdirSync(CLIENTS).flatMap(actionsIn);
    // They are found: of the reads of load balancers, which stand in a file of their own, too.
    expect(used.length).toBeGreaterThan(60);
    expect(used).toContain('elasticloadbalancing:DescribeTargetHealth');
    const allowed = iamPolicy(ALL).Statement.flatMap(({ Action }) => Action);
    expect(used.filter((action) => !allowed.includes(action))).toEqual([]);
  });

  it('allows every call of the table once', () => {
    const listed = iamPolicy(ALL).Statement.flatMap(({ Action }) => Action);
    expect(new Set(listed).size).toBe(listed.length);
    expect(listed.sort()).toEqual([...new Set(Object.values(CALLS).flatMap((calls) => Object.keys(calls)))].sort());
  });

  it('allows what AWS asks in the caller’s name when it makes a load balancer', () => {
    const described = ['AccountAttributes', 'Addresses', 'InternetGateways', 'SecurityGroups', 'Subnets', 'Vpcs'];
    const asked = [...described.map((of) => `ec2:Describe${of}`), 'ec2:GetSecurityGroupsForVpc'];
    for (const action of asked) expect(statementWith(action, ['LoadBalancers'])).toMatchObject([{ Sid: 'CloudOperatorAny' }]);
  });

  it('allows nothing beside the capabilities asked for', () => {
    expect(iamPolicy(['Instances']).Statement.flatMap(({ Action }) => Action)).toEqual([
      'ec2:DescribeAvailabilityZones',
      'ec2:DescribeInstanceTopology',
      'ec2:DescribeInstances',
      'ec2:DescribeNetworkInterfaces',
    ]);
    expect(iamPolicy([])).toEqual({ Version: '2012-10-17', Statement: [] });
  });

  it('deletes and changes load balancers and target groups only with our tag', () => {
    const writes = [
      'elasticloadbalancing:DeleteLoadBalancer',
      'elasticloadbalancing:DeleteTargetGroup',
      'elasticloadbalancing:RegisterTargets',
    ];
    for (const action of writes) {
      expect(statementWith(action, ALL).map(({ Condition }) => Condition)).toEqual([
        { Null: { 'aws:ResourceTag/cloud-operator.dev/cluster-id': 'false' } },
      ]);
    }
  });

  it('lets the first load balancer of an account make the role by which AWS runs them, and no other', () => {
    expect(statementWith('iam:CreateServiceLinkedRole', ALL)).toEqual([
      {
        Sid: 'CloudOperatorLinked',
        Effect: 'Allow',
        Action: ['iam:CreateServiceLinkedRole'],
        Resource: '*',
        Condition: { StringEquals: { 'iam:AWSServiceName': 'elasticloadbalancing.amazonaws.com' } },
      },
    ]);
    expect(statementWith('iam:CreateServiceLinkedRole', ['Instances', 'Routes'])).toEqual([]);
  });

  it('allows a call in the widest of the scopes that are needed', () => {
    const action = 'ec2:AuthorizeSecurityGroupIngress';
    expect(statementWith(action, ['LoadBalancers']).map(({ Sid }) => Sid)).toEqual(['CloudOperatorOurs']);
    expect(statementWith(action, ['LoadBalancers', 'NodeRules']).map(({ Sid }) => Sid)).toEqual(['CloudOperatorAny']);
  });
});
