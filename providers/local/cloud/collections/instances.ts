import { z } from 'zod';
import type { Family, Instance } from '../../api';
import { invalid } from '../api-failure';
import type { Change, Entry } from '../entry';
import { cidr, ip, ipFamily, name, parse, tags, unique } from '../schema';
import type { CollectionRules, Effects, Made, Part, View } from './rules';

const process = z.strictObject({
  command: z.array(z.string()).min(1),
  env: z.record(z.string(), z.string()).exactOptional(),
});

const place = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be 1 to 63 lower-case letters, digits or "-"');

const mutable = {
  tags: tags.exactOptional(),
  type: z.string().min(1).max(63).exactOptional(),
  podCIDRs: z.array(cidr).max(16).exactOptional(),
  sourceDestCheck: z.boolean().exactOptional(),
  process: process.exactOptional(),
};

const spec = z.strictObject({
  name,
  zone: place.exactOptional(),
  region: place.exactOptional(),
  ipFamilies: z.array(ipFamily).min(1).max(2).exactOptional(),
  /** Of a machine that is there already: its own addresses, instead of ones of this cloud. */
  addresses: z.array(ip).min(1).max(8).exactOptional(),
  ...mutable,
});

type Spec = z.infer<typeof spec>;

/** Machines. They may end at any time: their routes become black holes and their targets leave. */
export const instanceRules: CollectionRules<'instances', Spec> = {
  collection: 'instances',
  idPrefix: 'i',
  createSchema: spec,
  patchSchema: z.strictObject({
    ...mutable,
    power: z.enum(['running', 'stopped', 'terminated']).exactOptional(),
    addresses: z.array(ip).min(1).max(8).transform(withFamilies).exactOptional(),
  }),
  create: makeInstance,
  check: (entry, view, before) => {
    if (before?.resource.power === 'terminated' && entry.resource.power !== 'terminated') {
      throw invalid('power', 'a terminated instance does not start again; create another one');
    }
    checkAddresses(entry, view, before);
  },
  effects: instanceEffects,
};

/** Those of a machine that the cloud did not make are its own affair, as long as no other one has them. */
function checkAddresses({ resource, index }: Entry<Instance>, view: View, before: Entry<Instance> | undefined): void {
  if (before !== undefined && sameAddresses(before.resource, resource)) return;
  if (index !== undefined) {
    if (before === undefined) return;
    throw invalid('addresses', 'can be changed only of an instance that was registered with addresses of its own');
  }
  unique(
    resource.addresses,
    (address) => address.ip,
    (position) => `addresses[${position}]`,
  );
  resource.addresses.forEach((address, position) => {
    const others = view.state.all('instances').filter((other) => other.resource.id !== resource.id);
    const holder = others.find((other) => other.resource.addresses.some((one) => one.ip === address.ip))?.resource;
    if (holder !== undefined)
      throw invalid(`addresses[${position}]`, `${address.ip} is an address of instance ${holder.name} (${holder.id})`);
  });
}

function sameAddresses(a: Instance, b: Instance): boolean {
  return JSON.stringify(a.addresses) === JSON.stringify(b.addresses);
}

function withFamilies(addresses: string[]): Instance['addresses'] {
  return addresses.map((address) => ({ family: address.includes(':') ? 'IPv6' : 'IPv4', ip: address }));
}

/** Reads a target's instance for a pool or a route. */
export function livingInstance(view: View, id: string, field: string): Instance {
  const instance = view.state.get('instances', id)?.resource;
  if (instance === undefined) throw invalid(field, `instance ${id} does not exist`);
  if (instance.power === 'terminated' || instance.state === 'deleting') throw invalid(field, `instance ${id} is terminated`);
  return instance;
}

/** Reads the `power` of a drift request. */
export function parsePower(value: unknown): Instance['power'] {
  return parse(z.enum(['running', 'stopped', 'terminated']), value);
}

function makeInstance(wanted: Spec, id: string, view: View): Made<Instance> {
  const zone = wanted.zone ?? 'local-a';
  const { index, addresses } = wanted.addresses === undefined ? newAddresses(wanted, view) : ownAddresses(wanted.addresses, wanted);
  return {
    ...(index !== undefined && { index }),
    fields: {
      providerID: `local:///${zone}/${id}`,
      zone,
      region: wanted.region ?? 'local',
      type: wanted.type ?? 'local.small',
      addresses,
      podCIDRs: wanted.podCIDRs ?? [],
      power: 'running',
      sourceDestCheck: wanted.sourceDestCheck ?? false,
      ...(wanted.process === undefined ? {} : { process: wanted.process }),
    },
  };
}

interface Placed {
  index?: number;
  addresses: Instance['addresses'];
}

/** The addresses of one index, one of each family. */
function newAddresses({ ipFamilies }: Spec, view: View): Placed {
  const pools = view.instanceAddresses;
  const families = ipFamilies ?? (['IPv4'] as const);
  const placed = families.map((family, position) => {
    const pool = pools[family];
    if (pool === undefined) throw invalid(ipFamilies === undefined ? 'addresses' : `ipFamilies[${position}]`, noAddresses(family));
    return { family, pool };
  });
  const index = placed[0]?.pool.allocate(new Set(view.state.all('instances').map((entry) => entry.index ?? 0))) ?? 0;
  return { index, addresses: placed.map(({ family, pool }) => ({ family, ip: pool.at(index) ?? '' })) };
}

function noAddresses(family: Family): string {
  return `this tier of the local cloud has no ${family} addresses for instances; register one that is there already, with its own addresses`;
}

/** A machine that the cloud did not make: it is reached at its addresses, and nothing of it is ever changed. */
function ownAddresses(addresses: string[], { process: command, ipFamilies }: Spec): Placed {
  if (command !== undefined) throw invalid('process', 'nothing is run on an instance with addresses of its own');
  if (ipFamilies !== undefined) throw invalid('ipFamilies', 'follows from the addresses of its own; leave it out');
  return { addresses: withFamilies(addresses) };
}

function instanceEffects(before: Entry<Instance> | undefined, after: Entry<Instance> | undefined, view: View): Effects {
  const id = (after ?? before)?.resource.id ?? '';
  const own: Part = { kind: 'instance', id };
  if (after !== undefined && after.resource.power !== 'terminated' && after.resource.state !== 'deleting') {
    const moved = before !== undefined && !sameAddresses(before.resource, after.resource);
    return { changes: [], parts: moved ? [own, ...leaveTargets(id, view).parts] : [own] };
  }
  const targets = leaveTargets(id, view);
  const routes = blackhole(id, view);
  return {
    changes: [...targets.changes, ...routes],
    parts: [own, ...targets.parts, ...(routes.length === 0 ? [] : [{ kind: 'routes' } satisfies Part])],
  };
}

function leaveTargets(id: string, view: View): Effects {
  const pools = view.state.all('pools').filter(({ resource }) => resource.targets.some((target) => target.instanceID === id));
  const affected = new Set(pools.map(({ resource }) => resource.id));
  const balancers = view.state.all('loadbalancers').filter(({ resource }) => resource.listeners.some(({ poolID }) => affected.has(poolID)));
  return {
    changes: pools.map(({ resource }): Change => {
      const targets = resource.targets.filter((target) => target.instanceID !== id);
      return { kind: 'merge', collection: 'pools', id: resource.id, fields: { targets } };
    }),
    parts: balancers.map(({ resource }) => ({ kind: 'loadbalancer', id: resource.id })),
  };
}

function blackhole(id: string, view: View): Change[] {
  return view.state
    .all('routes')
    .filter(({ resource }) => resource.instanceID === id && resource.routeState === 'active')
    .map(({ resource }) => ({ kind: 'merge', collection: 'routes', id: resource.id, fields: { routeState: 'blackhole' } }));
}
