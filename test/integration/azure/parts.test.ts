import { OperatorError } from '../../../operator/base/errors';
import type { JsonObject } from '../../../operator/base/json';
import type { ArmClient } from '../../../providers/azure/client/arm-client';
import { narrowedRules } from '../../../providers/azure/resources/narrowed-rules';
import { PartOfResource } from '../../../providers/azure/resources/part-of-resource';
import { routes, type RoutesInputs } from '../../../providers/azure/resources/routes';
import { type RulesObserved, securityRules, type SecurityRulesInputs } from '../../../providers/azure/resources/security-rules';
import { ruleNameOf } from '../../../providers/azure/security-groups/security-rule';
import type { UpdateContext } from '../../../providers/worker-module';
import type { ArmServer } from '../../harness/arm/arm-server';
import { partsIn } from '../../harness/arm/resource';
import { clientOf, LOCATION, networkID, startScene } from '../../harness/arm/scene';

const GROUP_ID = networkID('networkSecurityGroups', 'sg');
const TABLE_ID = networkID('routeTables', 'rt');
const SSH = {
  name: 'ssh',
  properties: {
    priority: 100,
    direction: 'Inbound',
    access: 'Allow',
    protocol: 'Tcp',
    sourcePortRange: '*',
    sourceAddressPrefix: '*',
    destinationAddressPrefix: '*',
    destinationPortRange: '22',
  },
};

function access(...destinations: string[]): SecurityRulesInputs & JsonObject {
  const rule = { access: 'Allow' as const, family: 'IPv4' as const, protocol: 'Tcp' as const, sources: ['Internet'], ports: [80] };
  const limits = { rulesPerSecurityGroup: 1000, addressesPerSecurityGroup: 4000 };
  const rules = destinations.length === 0 ? [] : [{ name: ruleNameOf(rule), ...rule, destinations }];
  return { networkSecurityGroupId: GROUP_ID, rules, ...limits };
}

/** As a public load balancer has it. */
function opening(port: number, ...destinations: string[]): SecurityRulesInputs & JsonObject {
  const { networkSecurityGroupId, rules, rulesPerSecurityGroup, addressesPerSecurityGroup } = access(...destinations);
  const ours = rules.map((rule) => ({ ...rule, name: ruleNameOf({ ...rule, ports: [port] }), ports: [port] }));
  return { networkSecurityGroupId, rules: ours, narrowedBy: 'narrowed', rulesPerSecurityGroup, addressesPerSecurityGroup };
}

function table(...numbers: number[]): RoutesInputs & JsonObject {
  const all = numbers.map((number) => ({
    name: `n${number}`,
    addressPrefix: `10.244.${number}.0/24`,
    nextHopIpAddress: `10.0.0.${number}`,
  }));
  return { routeTableId: TABLE_ID, location: LOCATION, tags: { owner: 'us' }, routes: all, routesPerTable: 400 };
}

describe('our part of what is not ours alone', () => {
  let server: ArmServer;
  let client: ArmClient;
  let valid = true;
  const update: UpdateContext = {
    stack: 's',
    clusterID: 'c',
    countCall: () => undefined,
    assertValid: () => {
      if (!valid) throw new OperatorError('Canceled', 'the lease is gone');
    },
  };
  const context = { urn: 'urn:x', name: 'part', signal: new AbortController().signal };
  const group = () => new PartOfResource(securityRules, client, update);
  const tables = () => new PartOfResource(routes, client, update);
  const addresses = () =>
    partsIn(server.cloud.find(GROUP_ID), 'securityRules').flatMap(({ name, properties }) => {
      const { destinationAddressPrefix: one, destinationAddressPrefixes: several = [] } = properties as {
        destinationAddressPrefix?: string;
        destinationAddressPrefixes?: string[];
      };
      return name === 'ssh' ? [] : [...(one === undefined ? [] : [one]), ...several];
    });
  const names = () =>
    partsIn(server.cloud.find(TABLE_ID), 'routes')
      .map(({ name }) => name)
      .sort();
  const writes = () => server.calls.filter(({ verb }) => verb !== 'get' && verb !== 'list').length;

  beforeEach(async () => {
    valid = true;
    server = await startScene();
    client = clientOf(server, { budgetMs: 5_000 });
    server.cloud.seed(GROUP_ID, { location: LOCATION, tags: { team: 'net' }, properties: { securityRules: [SSH] } });
  });

  afterEach(async () => {
    await client.close();
    await server.stop();
  });

  test('rules come and go in a group of somebody else’s, who loses nothing', async () => {
    const { id } = await group().create(access('20.1.0.1'), context);
    expect(id).toBe(GROUP_ID);
    await group().update(id, access('20.1.0.1'), access('20.1.0.1', '20.1.0.2'), context);
    expect(addresses()).toEqual(['20.1.0.1', '20.1.0.2']);
    await group().update(id, access('20.1.0.1', '20.1.0.2'), access('20.1.0.2'), context);
    expect(addresses()).toEqual(['20.1.0.2']);
    await group().delete(id, context, access('20.1.0.2'));
    expect(server.cloud.find(GROUP_ID)).toMatchObject({ tags: { team: 'net' }, location: LOCATION });
    expect(partsIn(server.cloud.find(GROUP_ID), 'securityRules')).toMatchObject([SSH]);
  });

  test('R-48: what a newer program has in the same resource, under another name of its own, stays when what was there by the old one goes', async () => {
    const rules = group();
    const spelled = Object.assign(access('20.1.0.1'), { networkSecurityGroupId: GROUP_ID.toUpperCase() });
    await group().create(access('20.1.0.1', '20.1.0.2'), context);
    rules.noted(spelled);
    await rules.create(spelled, context);
    await rules.delete(GROUP_ID, context, access('20.1.0.1', '20.1.0.2'));
    expect(addresses()).toEqual(['20.1.0.1']);
    await tables().create(table(1, 2), context);
    const next = tables();
    next.noted(table(2));
    await next.create(table(2), context);
    await next.delete(TABLE_ID, context, table(1, 2));
    expect(names()).toEqual(['n2']);
  });

  test('what is there already costs no write', async () => {
    await group().create(access('20.1.0.1'), context);
    server.calls.length = 0;
    await group().create(access('20.1.0.1'), context);
    await group().update(GROUP_ID, access('20.1.0.1'), access('20.1.0.1'), context);
    expect(writes()).toBe(0);
  });

  test('two who write at the same time both end up in it', async () => {
    const all = ['20.1.0.1', '20.1.0.2', '20.1.0.3', '20.1.0.4'];
    await Promise.all(all.map((address) => group().create(access(address), context)));
    expect(addresses().sort()).toEqual(all);
    expect(server.calls.some(({ status }) => status === 412)).toBe(true);
  });

  test('what is there is written again where the operation that has made it so has failed', async () => {
    await group().create(access('20.1.0.1'), context);
    server.cloud.tamper(GROUP_ID, ({ properties }) => {
      properties.provisioningState = 'Failed';
    });
    server.calls.length = 0;
    await group().update(GROUP_ID, access('20.1.0.1'), access('20.1.0.1'), context);
    expect(writes()).toBe(1);
    expect(addresses()).toEqual(['20.1.0.1']);
    expect(server.cloud.find(GROUP_ID)?.properties.provisioningState).toBe('Succeeded');
  });

  test('who writes at the same time is named', async () => {
    const remarks: string[] = [];
    const noted = () => new PartOfResource(securityRules, client, { ...update, remark: (text) => remarks.push(text) });
    await Promise.all(['20.1.0.1', '20.1.0.2', '20.1.0.3'].map((address) => noted().create(access(address), context)));
    expect(remarks[0]).toBe(`Somebody else has written ${GROUP_ID} at the same time. It was read again, and nothing of theirs is lost`);
  });

  test('an answer that is lost changes nothing', async () => {
    server.lost = { verb: 'update', times: 2 };
    await group().create(access('20.1.0.1'), context);
    expect(addresses()).toEqual(['20.1.0.1']);
    server.lost = { verb: 'update', times: 1 };
    await group().delete(GROUP_ID, context, access('20.1.0.1'));
    expect(addresses()).toEqual([]);
  });

  test('who may not write any more writes nothing', async () => {
    valid = false;
    await expect(group().create(access('20.1.0.1'), context)).rejects.toMatchObject({ code: 'Canceled', resource: 'urn:x' });
    await expect(tables().create(table(1), context)).rejects.toMatchObject({ code: 'Canceled' });
    expect(writes()).toBe(0);
  });

  test('a group that is not there is somebody else’s to make; to leave it is done', async () => {
    server.cloud.vanish(GROUP_ID);
    await expect(group().create(access('20.1.0.1'), context)).rejects.toMatchObject({
      code: 'NotFound',
      remedy: 'Make it, or correct its name in the settings of the CloudProvider.',
    });
    await group().delete(GROUP_ID, context, access('20.1.0.1'));
  });

  test('a locked group says so, and what to do', async () => {
    server.cloud.locks.set('cluster', 'ReadOnly');
    await expect(group().create(access('20.1.0.1'), context)).rejects.toMatchObject({
      code: 'Credentials',
      remedy: /Remove the lock/ as never,
    });
  });

  test('what is refused to the whole is no part’s fault', async () => {
    server.cloud.policies.set('microsoft.network/networksecuritygroups', 'no-changes');
    await expect(group().create(access('20.1.0.1'), context)).rejects.toMatchObject({
      code: 'Credentials',
      message: /no-changes/ as never,
    });
    const gone = GROUP_ID.replace('/cluster/', '/gone/');
    await expect(group().create(Object.assign(access('20.1.0.1'), { networkSecurityGroupId: gone }), context)).rejects.toMatchObject({
      code: 'NotFound',
    });
  });

  test('routes: it is kept when each was written that is not older than ours', async () => {
    server.cloud.seed(TABLE_ID, {
      location: LOCATION,
      properties: {
        routes: [
          { name: 'n1', properties: { addressPrefix: '10.244.1.0/24', nextHopType: 'VirtualAppliance', nextHopIpAddress: '10.0.0.1' } },
        ],
      },
    });
    const { id, outputs } = await tables().create(table(1, 2), context);
    const first = outputs.observed as { writtenAt: Record<string, number> };
    expect(Object.keys(first.writtenAt)).toEqual(['n2']);
    const { outputs: later } = await tables().update(id, outputs, table(2, 3), context);
    const second = later.observed as { writtenAt: Record<string, number> };
    expect(Object.keys(second.writtenAt)).toEqual(['n2', 'n3']);
    expect(second.writtenAt['n2']).toBe(first.writtenAt['n2']);
    expect(names()).toEqual(['n2', 'n3']);
    await tables().delete(id, context, later);
    expect(names()).toEqual([]);
  });

  test('routes: the table is made where there is none, in one write for all, and stays when they go', async () => {
    const { id } = await tables().create(table(1, 2, 3), context);
    expect(writes()).toBe(1);
    expect(server.cloud.find(TABLE_ID)).toMatchObject({ location: LOCATION, tags: { owner: 'us' } });
    server.cloud.tamper(TABLE_ID, ({ properties }) => {
      const firewall = {
        id: `${TABLE_ID}/routes/fw`,
        name: 'fw',
        etag: 'x',
        properties: { addressPrefix: '0.0.0.0/0', nextHopType: 'Internet' },
      };
      properties.routes = [...(properties.routes as JsonObject[]), firewall];
    });
    await tables().update(id, table(1, 2, 3), table(2, 4), context);
    expect(names()).toEqual(['fw', 'n2', 'n4']);
    await tables().delete(id, context, table(2, 4));
    expect(names()).toEqual(['fw']);
  });

  test('routes: two who make the table at the same time both end up in it', async () => {
    await Promise.all([tables().create(table(1), context), tables().create(table(2), context)]);
    expect(names()).toEqual(['n1', 'n2']);
  });

  test('security rules: a Node’s address, which two load balancers lead to, is taken out of the rules of the one that goes', async () => {
    const blind = (port: number): SecurityRulesInputs & JsonObject => {
      const { networkSecurityGroupId, rules, rulesPerSecurityGroup, addressesPerSecurityGroup } = access('10.0.0.1');
      const ours = rules.map((rule) => ({ ...rule, name: ruleNameOf({ ...rule, ports: [port] }), ports: [port] }));
      return { networkSecurityGroupId, rules: ours, nodeAddresses: ['10.0.0.1'], rulesPerSecurityGroup, addressesPerSecurityGroup };
    };
    const { id } = await group().create(blind(30080), context);
    await group().create(blind(30443), context);
    await group().delete(id, context, blind(30443));
    expect(addresses()).toEqual(['10.0.0.1']);
    await group().delete(id, context, blind(30080));
    expect(addresses()).toEqual([]);
  });

  describe('of a public load balancer', () => {
    const formerIn = ({ observed }: JsonObject): RulesObserved['former'] => (observed as RulesObserved).former;
    const narrow = ({ observed }: JsonObject) =>
      new PartOfResource(narrowedRules, client, update).create(
        { networkSecurityGroupId: GROUP_ID, ...(observed as RulesObserved) },
        context,
      );
    const portsOf = (address: string): unknown[] =>
      partsIn(server.cloud.find(GROUP_ID), 'securityRules').flatMap(({ properties }) => {
        const {
          destinationAddressPrefix: one,
          destinationAddressPrefixes: several = [one],
          destinationPortRanges: ports = [],
        } = properties;
        return (several as unknown[]).includes(address) ? ports : [];
      });

    test('what goes stays until that is written, and is then taken out', async () => {
      const { outputs } = await group().create(opening(80, '20.1.0.1', '20.1.0.2'), context);
      expect(formerIn(outputs)).toEqual([]);
      const { outputs: later } = await group().update(GROUP_ID, outputs, opening(81, '20.1.0.2'), context);
      expect([portsOf('20.1.0.1'), portsOf('20.1.0.2')]).toEqual([['80'], ['80', '81']]);
      await narrow(later);
      expect([portsOf('20.1.0.1'), portsOf('20.1.0.2')]).toEqual([[], ['81']]);
      server.calls.length = 0;
      await narrow({ observed: { former: [], times: 1 } });
      expect(server.calls).toEqual([]);
    });

    test('what was opened for a load balancer that was not written goes with the next one that is, or with all', async () => {
      const { outputs } = await group().create(opening(80, '20.1.0.1'), context);
      const { outputs: tried } = await group().update(GROUP_ID, outputs, opening(80, '20.1.0.1', '20.1.0.9'), context);
      const { outputs: given } = await group().update(GROUP_ID, tried, opening(80, '20.1.0.1'), context);
      const { outputs: next } = await group().update(GROUP_ID, given, opening(80, '20.1.0.1', '20.1.0.3'), context);
      expect(formerIn(next)).toEqual([{ name: expect.any(String) as string, destinations: ['20.1.0.9'] }]);
      await narrow(next);
      expect(addresses()).toEqual(['20.1.0.1', '20.1.0.3']);
      // The same again is another one: nothing else would tell the engine.
      const { outputs: retried } = await group().update(GROUP_ID, next, opening(80, '20.1.0.1', '20.1.0.3', '20.1.0.9'), context);
      expect(retried.observed).toEqual({ former: [], times: 2 });
      const { outputs: again } = await group().update(GROUP_ID, retried, opening(80, '20.1.0.1', '20.1.0.3'), context);
      expect([next.observed, again.observed]).toEqual([2, 3].map((times) => ({ former: formerIn(next), times })));
      const { outputs: last } = await group().update(GROUP_ID, again, opening(80, '20.1.0.3'), context);
      expect(formerIn(last)).toEqual([{ name: expect.any(String) as string, destinations: ['20.1.0.1', '20.1.0.9'] }]);
      await group().delete(GROUP_ID, context, last);
      expect(addresses()).toEqual([]);
    });

    test('R-48: what was opened for a write that Azure has refused stays where a newer program asks for it under another name', async () => {
      const { outputs } = await group().create(opening(80, '20.1.0.1'), context);
      const { outputs: tried } = await group().update(GROUP_ID, outputs, opening(80, '20.1.0.1', '20.1.0.8', '20.1.0.9'), context);
      const { outputs: given } = await group().update(GROUP_ID, tried, opening(80, '20.1.0.1'), context);
      const rules = group();
      rules.noted(opening(80, '20.1.0.1', '20.1.0.9'));
      await rules.create(opening(80, '20.1.0.1', '20.1.0.9'), context);
      await rules.delete(GROUP_ID, context, given);
      expect(addresses()).toEqual(['20.1.0.1', '20.1.0.9']);
    });

    test('what a state of an earlier version has is ours', async () => {
      const { outputs } = await group().create(opening(80, '20.1.0.1'), context);
      const { narrowedBy, ...before } = outputs;
      expect(narrowedBy).toBe('narrowed');
      await group().delete(GROUP_ID, context, { ...before, leavesFormer: true });
      expect(addresses()).toEqual([]);
    });

    describe('in one group with another load balancer', () => {
      /** Brings its rules to what is wanted, and writes the load balancer: what goes is then taken out. @param isWritten false = Azure refuses that */
      const balancer = () => {
        let [state, narrowed]: (JsonObject | undefined)[] = [];
        const rules = () => new PartOfResource(securityRules, client, { ...update, stored: () => narrowed });
        const up = async (wanted: JsonObject, isWritten = true): Promise<void> => {
          const { outputs } = await (state === undefined
            ? rules().create(wanted, context)
            : rules().update(GROUP_ID, state, wanted, context));
          state = outputs;
          if (isWritten) narrowed = (await narrow(outputs)).outputs;
        };
        return { up, down: () => rules().delete(GROUP_ID, context, state ?? {}) };
      };

      test.each([
        ['changes its rules', (one: ReturnType<typeof balancer>) => one.up(opening(80, '20.1.0.1', '20.1.0.3'))],
        ['goes', (one: ReturnType<typeof balancer>) => one.down()],
      ])('what has gone over to that one stays in the rule that both have when the first one %s', async (_what, later) => {
        const [one, other] = [balancer(), balancer()];
        await one.up(opening(80, '20.1.0.1', '20.1.0.2'));
        await one.up(opening(80, '20.1.0.1'));
        await other.up(opening(80, '20.1.0.2'));
        await later(one);
        expect(addresses()).toContain('20.1.0.2');
        await other.down();
        expect(addresses()).not.toContain('20.1.0.2');
      });

      test('what was opened for a write that Azure has refused is taken out, also where something was taken out before', async () => {
        const [one, other] = [balancer(), balancer()];
        await one.up(opening(80, '20.1.0.1', '20.1.0.2'));
        await one.up(opening(80, '20.1.0.1'));
        await other.up(opening(80, '20.1.0.2'));
        await one.up(opening(80, '20.1.0.1', '20.1.0.9'), false);
        await one.up(opening(80, '20.1.0.1'), false);
        await one.up(opening(80, '20.1.0.1', '20.1.0.3'));
        expect(addresses()).toEqual(['20.1.0.1', '20.1.0.2', '20.1.0.3']);
      });
    });

    test('where the group has no room for both, what goes makes room', async () => {
      const full = (port: number) => Object.assign(opening(port, '20.1.0.1'), { rulesPerSecurityGroup: 2 });
      const { outputs } = await group().create(full(80), context);
      const { outputs: later } = await group().update(GROUP_ID, outputs, full(81), context);
      expect(portsOf('20.1.0.1')).toEqual(['81']);
      server.calls.length = 0;
      await narrow(later);
      expect(writes()).toBe(0);
    });
  });

  test('routes: a table that somebody has taken away is made again', async () => {
    const { id } = await tables().create(table(1), context);
    server.cloud.vanish(TABLE_ID);
    await tables().update(id, table(1), table(1, 2), context);
    expect(names()).toEqual(['n1', 'n2']);
  });

  test('inputs that are no part are told before anything is asked', () => {
    expect(group().check({ ...(access('20.1.0.1') as JsonObject), rules: [{}] })).not.toEqual([]);
    expect(tables().check(table(1))).toEqual([]);
  });
});
