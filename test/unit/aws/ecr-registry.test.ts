import { ecrRegistryOf } from '../../../providers/aws/registry/ecr-registry';

const OURS = '123456789012';

test.each([
  [`${OURS}.dkr.ecr.eu-central-1.amazonaws.com`, 'eu-central-1', 'https://api.ecr.eu-central-1.amazonaws.com'],
  [`${OURS}.dkr.ecr-fips.us-gov-west-1.amazonaws.com`, 'us-gov-west-1', 'https://ecr-fips.us-gov-west-1.amazonaws.com'],
  [`${OURS}.dkr.ecr.cn-north-1.amazonaws.com.cn`, 'cn-north-1', 'https://api.ecr.cn-north-1.amazonaws.com.cn'],
  [`${OURS}.dkr.ecr.eusc-de-east-1.amazonaws.eu`, 'eusc-de-east-1', 'https://api.ecr.eusc-de-east-1.amazonaws.eu'],
  [`${OURS}.dkr.ecr.us-iso-east-1.c2s.ic.gov`, 'us-iso-east-1', 'https://api.ecr.us-iso-east-1.c2s.ic.gov'],
  [`${OURS}.dkr.ecr.us-isob-east-1.sc2s.sgov.gov`, 'us-isob-east-1', 'https://api.ecr.us-isob-east-1.sc2s.sgov.gov'],
  [`${OURS}.dkr-ecr.us-east-1.on.aws`, 'us-east-1', 'https://ecr.us-east-1.api.aws'],
  [`${OURS}.dkr-ecr-fips.us-east-1.on.aws`, 'us-east-1', 'https://ecr-fips.us-east-1.api.aws'],
  [`${OURS}.dkr-ecr.cn-north-1.on.amazonwebservices.com.cn`, 'cn-north-1', 'https://ecr.cn-north-1.api.amazonwebservices.com.cn'],
])('%s', (host, region, url) => {
  expect(ecrRegistryOf(host)).toMatchObject({ service: 'ecr', region, url });
});

test.each([
  ['public.ecr.aws', 'https://api.ecr-public.us-east-1.amazonaws.com'],
  ['ecr-public.aws.com', 'https://ecr-public.us-east-1.api.aws'],
])('%s is of all, and in one region', (host, url) => {
  expect(ecrRegistryOf(host)).toMatchObject({ service: 'ecr-public', region: 'us-east-1', url });
});

test.each([
  'docker.io',
  `${OURS}.dkr.ecr.eu-central-1.amazonaws.com.evil.example`,
  `${OURS}.dkr.ecr.eu-central-1.evil.example`,
  `${OURS}.dkr.ecr.evil.example/.amazonaws.com`,
  `${OURS}.dkr.ecr.eu-central-1.amazonaws.com:8443`,
  `12345.dkr.ecr.eu-central-1.amazonaws.com`,
  'constructor',
  '',
])('%s is none: no signed request goes there', (host) => {
  expect(ecrRegistryOf(host)).toBeUndefined();
});

test('the region’s STS is of its partition', () => {
  expect(ecrRegistryOf(`${OURS}.dkr-ecr.cn-north-1.on.amazonwebservices.com.cn`)?.stsURL).toBe('https://sts.cn-north-1.amazonaws.com.cn');
});
