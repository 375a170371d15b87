import { assertOfTheKind } from '../../../providers/aws/adopt-id';

const REGION = 'eu-central-1';
const arn = (rest: string, region = REGION): string => `arn:aws:elasticloadbalancing:${region}:123456789012:${rest}`;
const NETWORK = arn('loadbalancer/net/edge/50dc6c495c0c9188');

test.each([
  [NETWORK, false],
  [NETWORK.replace('arn:aws:', 'arn:aws-us-gov:'), false],
  ['edge', true],
])('%s can be taken over (Classic: %s)', (id, classic) => {
  expect(() => assertOfTheKind(id, { classic, region: REGION })).not.toThrow();
});

test.each<[string, boolean, string]>([
  [arn('loadbalancer/app/edge/50dc6c495c0c9188'), false, 'is an Application Load Balancer; only Network and Classic ones'],
  [arn('loadbalancer/gwy/edge/50dc6c495c0c9188'), false, 'is a Gateway Load Balancer'],
  [arn('loadbalancer/edge'), false, 'is a Classic Load Balancer; with spec.aws.type: Classic, name it by its name'],
  [arn('loadbalancer/net/edge/50dc6c495c0c9188', 'us-east-1'), false, 'is in region us-east-1, and the CloudProvider is in eu-central-1'],
  [arn('targetgroup/edge/50dc6c495c0c9188'), false, 'is no ARN of a load balancer, such as arn:aws:'],
  ['edge', false, 'is no ARN of a load balancer'],
  [arn('loadbalancer/edge'), true, 'is an ARN; of a Classic one it is the name: edge'],
  [NETWORK, true, 'is no name of a Classic Load Balancer'],
])('%s (Classic: %s) is refused: %s', (id, classic, message) => {
  const refusal = expect.objectContaining({
    code: 'Invalid',
    field: 'spec.adoptID',
    message: expect.stringContaining(message) as string,
  }) as Error;
  expect(() => assertOfTheKind(id, { classic, region: REGION })).toThrow(refusal);
});
