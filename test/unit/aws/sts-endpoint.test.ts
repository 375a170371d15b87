import { stsURLOf } from '../../../providers/aws/config/sts-endpoint';

const [USUAL, FIPS] = [
  { fips: false, dualStack: false },
  { fips: true, dualStack: false },
];
const [DUAL_STACK, BOTH] = [
  { fips: false, dualStack: true },
  { fips: true, dualStack: true },
];

test.each([
  ['eu-central-1', USUAL, 'https://sts.eu-central-1.amazonaws.com'],
  ['eu-central-1', FIPS, 'https://sts-fips.eu-central-1.amazonaws.com'],
  ['eu-central-1', DUAL_STACK, 'https://sts.eu-central-1.api.aws'],
  ['eu-central-1', BOTH, 'https://sts-fips.eu-central-1.api.aws'],
  ['us-gov-west-1', USUAL, 'https://sts.us-gov-west-1.amazonaws.com'],
  ['us-gov-west-1', FIPS, 'https://sts.us-gov-west-1.amazonaws.com'],
  ['us-gov-west-1', BOTH, 'https://sts-fips.us-gov-west-1.api.aws'],
  ['cn-north-1', USUAL, 'https://sts.cn-north-1.amazonaws.com.cn'],
  ['cn-north-1', DUAL_STACK, 'https://sts.cn-north-1.api.amazonwebservices.com.cn'],
  ['us-iso-east-1', USUAL, 'https://sts.us-iso-east-1.c2s.ic.gov'],
  ['us-iso-east-1', DUAL_STACK, 'https://sts.us-iso-east-1.api.aws.ic.gov'],
  ['us-isob-east-1', USUAL, 'https://sts.us-isob-east-1.sc2s.sgov.gov'],
  ['us-isof-south-1', USUAL, 'https://sts.us-isof-south-1.csp.hci.ic.gov'],
  ['eu-isoe-west-1', USUAL, 'https://sts.eu-isoe-west-1.cloud.adc-e.uk'],
  ['eusc-de-east-1', DUAL_STACK, 'https://sts.eusc-de-east-1.api.amazonwebservices.eu'],
])('STS of %s, with %p, is %s', (region, host, expected) => {
  expect(stsURLOf(region, host)).toBe(expected);
});
