import { dirname } from 'node:path';
import { z } from 'zod';
import type { JsonObject } from '../../../operator/base/json';
import { loadBalancerArguments } from '../../../providers/azure/load-balancers/arguments';
import { loadBalancer } from '../../../providers/azure/resources/load-balancer';
import { publicIPAddress } from '../../../providers/azure/resources/public-ip-address';
import { OfficialTypings } from '../../harness/official-types';
import { driftOf, type JsonSchema, valueDrift } from '../../harness/type-drift';
import { balancer, NODES, place } from './balancer-scene';

const DESCRIPTIONS: { token: string; replaceOn: readonly string[]; schema: z.ZodType }[] = [
  publicIPAddress('subscription'),
  loadBalancer('subscription', 'kubernetes'),
];

/** The package is large, and no dependency; AZURE_NATIVE_PACKAGE names a folder of it that is somewhere else. */
function packageFolder(): string | undefined {
  const named = process.env.AZURE_NATIVE_PACKAGE;
  if (named !== undefined && named !== '') return named;
  try {
    return dirname(require.resolve('@pulumi/azure-native/package.json'));
  } catch {
    return undefined;
  }
}

const folder = packageFolder();
const where = folder === undefined ? describe.skip : describe;

where('the built-in types of Azure beside the typings of @pulumi/azure-native (skipped where that package is not there)', () => {
  const typings = new OfficialTypings(folder ?? '');

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
