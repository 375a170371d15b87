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
  [arn('loadbalancer/edge'), false, 'is a Classic load balancer; set spec.aws.type: Classic, and name it by its name, edge'],
  [arn('loadbalancer/net/edge/50dc6c495c0c9188', 'us-east-1'), false, 'is in region us-east-1, and the CloudProvider is in eu-central-1'],
  [arn('targetgroup/edge/50dc6c495c0c9188'), false, 'is not the ARN of a load balancer, such as arn:aws:'],
  ['edge', false, 'is not the ARN of a load balancer'],
  [arn('loadbalancer/edge'), true, 'is an ARN; a Classic one is named by its name, edge'],
  [NETWORK, true, 'is not the name of a Classic load balancer'],
])('%s (Classic: %s) is refused: %s', (id, classic, message) => {
  const refusal = expect.objectContaining({
    code: 'Invalid',
    field: 'spec.adoptID',
    message: expect.stringContaining(message) as string,
  }) as Error;
  expect(() => assertOfTheKind(id, { classic, region: REGION })).toThrow(refusal);
});
