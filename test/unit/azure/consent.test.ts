import type { JsonObject } from '../../../operator/base/json';
import type { ArmClient } from '../../../providers/azure/client/arm-client';
import { resourceTypes } from '../../../providers/azure/resources';
import { TAG } from '../../../providers/azure/tags';
import { SUBSCRIPTION } from './balancer-scene';

const context = { urn: 'urn:x', name: 'kubernetes' };

/** Asks before a replacement, in an update that may replace what is of these owners. */
function replace(token: string, olds: JsonObject, properties: string[], replaces?: string[]): void {
  const update = { stack: 's', clusterID: 'c', countCall: () => undefined, assertValid: () => undefined, ...(replaces && { replaces }) };
  const { official } = resourceTypes({} as ArmClient, { networkSubscriptionID: SUBSCRIPTION, clusterName: 'kubernetes' }, update);
  official.find((type) => type.token.endsWith(`:${token}`))?.assertReplaceable?.(olds, properties, context);
}

describe('decision 23: what serves is replaced only by consent, whatever asks for it', () => {
  const shared = { tags: { [TAG.ownerUID]: 'kubernetes' } };
  const own = { tags: { [TAG.ownerUID]: 'web' } };

  interface Row {
    what: string;
    token: string;
    olds: JsonObject;
    properties: string[];
    replaces?: string[];
  }

  test.each<Row>([
    { what: 'a load balancer', token: 'LoadBalancer', olds: shared, properties: ['location', 'sku'], replaces: ['web', 'api'] },
    { what: 'an address', token: 'PublicIPAddress', olds: own, properties: ['ipTags'], replaces: ['api'] },
    { what: 'one without marks', token: 'PublicIPAddress', olds: {}, properties: ['ipTags'], replaces: [] },
    {
      what: 'a Private Link Service',
      ...{ token: 'PrivateLinkService', olds: own, properties: ['location', 'loadBalancerFrontendIpConfigurations'], replaces: [] },
    },
  ])('$what is refused, with what to do', ({ token, olds, properties, replaces }) => {
    const named = properties.filter((property) => property !== 'loadBalancerFrontendIpConfigurations').join(', ');
    const refused = {
      ...{ code: 'Invalid', reason: 'ReplacementRefused', resource: 'urn:x' },
      message: expect.stringMatching(
        new RegExp(
          `^azure-native:network:${token} kubernetes: a change of ${named} replaces it, .*set spec\\.updatePolicy\\.replace to Allow`,
        ),
      ) as string,
    };
    expect(() => replace(token, olds, properties, replaces)).toThrow(expect.objectContaining(refused) as Error);
  });

  test.each<Row>([
    { what: 'whose owner’s spec asks for it', token: 'PublicIPAddress', olds: own, properties: ['ipTags'], replaces: ['web'] },
    { what: 'that was planned, or allowed by all', token: 'LoadBalancer', olds: shared, properties: ['location'] },
    {
      what: 'that follows its frontend',
      ...{ token: 'PrivateLinkService', olds: own, properties: ['loadBalancerFrontendIpConfigurations'], replaces: [] },
    },
  ])('one $what is replaced', ({ token, olds, properties, replaces }) => {
    expect(() => replace(token, olds, properties, replaces)).not.toThrow();
  });
});
