import { dirname } from 'node:path';
import { z } from 'zod';
import type { JsonObject } from '../../../operator/base/json';
import { loadBalancerArguments } from '../../../providers/azure/load-balancers/arguments';
import { DESCRIPTIONS } from '../../../providers/azure/resources';
import { AZURE_NATIVE_VERSION } from '../../../providers/azure/worker';
import { OfficialTypings } from '../../harness/official-types';
import { driftOf, type JsonSchema, valueDrift } from '../../harness/type-drift';
import { balancer, NODES, place } from './balancer-scene';

describe('the built-in types of Azure beside the typings of @pulumi/azure-native', () => {
  const typings = new OfficialTypings(dirname(require.resolve('@pulumi/azure-native/package.json')));

  test('the state names the version that is installed', () => {
    expect(AZURE_NATIVE_VERSION).toBe(typings.version);
  });

  test.each(DESCRIPTIONS)('$token: the token is the official one', ({ token }) => {
    expect(typings.resource(token).token).toBe(token);
  });

  test.each(DESCRIPTIONS)(
    '$token: every property is official, of the official type, and none that is needed is missing',
    ({ token, schema }) => {
      expect(driftOf(z.toJSONSchema(schema) as JsonSchema, typings.resource(token).inputs, 'inputs')).toEqual([]);
    },
  );

  test.each(DESCRIPTIONS)('$token: what is replaced is served', ({ replaceOn, schema }) => {
    const { properties = {} } = z.toJSONSchema(schema) as JsonSchema;
    expect(replaceOn.filter((name) => properties[name] === undefined)).toEqual([]);
  });

  test('what is made of load balancers has official names and types, and all that is needed', () => {
    const azure = { publicIP: { ipv4Name: 'web' }, probe: { protocol: 'HTTP' } };
    const inputs = [balancer(1, { ipFamilies: ['IPv4', 'IPv6'] }, azure), balancer(2, { scheme: 'Internal', addresses: ['10.0.0.9'] })];
    const rendered = JSON.parse(JSON.stringify(loadBalancerArguments(inputs, NODES, place()))) as JsonObject;
    const official = typings.resource('azure-native:network:LoadBalancer').inputs;
    expect(valueDrift(rendered, official, 'inputs')).toEqual([]);
    expect(valueDrift({ ...rendered, probez: [], sku: 'Standard' }, official, 'inputs')).toEqual([
      'inputs.sku is string, officially an object',
      'inputs.probez is no official property',
    ]);
  });

  test('outputs are official too', () => {
    expect(typings.resource('azure-native:network:PublicIPAddress').outputs).toContain('ipAddress');
  });
});
