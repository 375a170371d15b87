import { z } from 'zod';
import type { LoadBalancer, LoadBalancerListener } from '../../api';
import { ApiFailure, invalid } from '../api-failure';
import type { Change, Entry } from '../entry';
import { cidr, id, milliseconds, name, port, tags, transport, unique } from '../schema';
import type { CollectionRules, Effects, View } from './rules';

const sourceRanges = z.array(cidr).max(1000).exactOptional();

const listener = z.strictObject({
  name: z.string().min(1).max(63),
  protocol: transport,
  port,
  poolID: id,
  idleTimeoutMs: milliseconds.min(1).exactOptional(),
  addressIDs: z.array(id).min(1).max(8).exactOptional(),
  sourceRanges,
  ownerUID: z.string().min(1).max(128).exactOptional(),
  owner: z.string().max(512).exactOptional(),
});

const mutable = {
  tags: tags.exactOptional(),
  addressIDs: z.array(id).min(1).max(8),
  listeners: z.array(listener).max(100),
  sourceRanges,
};

const spec = z.strictObject({
  name,
  scheme: z.enum(['Public', 'Internal']).exactOptional(),
  mode: z.enum(['proxy', 'passthrough']).exactOptional(),
  ...mutable,
});

type Spec = z.infer<typeof spec>;

/** Load balancers: addresses and listeners; each listener sends to a pool. */
export const loadBalancerRules: CollectionRules<'loadbalancers', Spec> = {
  collection: 'loadbalancers',
  idPrefix: 'lb',
  createSchema: spec,
  patchSchema: z.strictObject(mutable).partial(),
  create: (wanted, _id, { noPassthrough }) => ({
    fields: {
      scheme: wanted.scheme ?? 'Public',
      mode: possibleMode(wanted.mode, noPassthrough),
      addressIDs: wanted.addressIDs,
      listeners: wanted.listeners,
      sourceRanges: wanted.sourceRanges ?? [],
      hostPorts: [],
    },
  }),
  check: checkLoadBalancer,
  effects: loadBalancerEffects,
};

function possibleMode(mode: LoadBalancer['mode'] = 'proxy', noPassthrough?: string): NonNullable<LoadBalancer['mode']> {
  if (mode === 'passthrough' && noPassthrough !== undefined) throw invalid('mode', `passthrough is not possible: ${noPassthrough}`);
  return mode;
}

function checkLoadBalancer({ resource }: Entry<LoadBalancer>, view: View): void {
  unique(
    resource.addressIDs,
    (addressID) => addressID,
    (index) => `addressIDs[${index}]`,
  );
  resource.addressIDs.forEach((addressID, index) => checkAddress(resource, addressID, `addressIDs[${index}]`, view));
  unique(
    resource.listeners,
    (one) => one.name,
    (index) => `listeners[${index}].name`,
  );
  resource.listeners.forEach((one, index) => checkListener(resource, one, `listeners[${index}]`, view));
  checkPorts(resource, view);
}

function checkListener({ addressIDs }: LoadBalancer, listener: LoadBalancerListener, field: string, view: View): void {
  const { poolID, protocol } = listener;
  const pool = view.state.get('pools', poolID)?.resource;
  if (pool === undefined || pool.state === 'deleting') throw invalid(`${field}.poolID`, `pool ${poolID} does not exist`);
  if (pool.protocol !== protocol) throw invalid(`${field}.poolID`, `pool ${poolID} is for ${pool.protocol}, the listener for ${protocol}`);
  listener.addressIDs?.forEach((addressID, index) => {
    const message = `${addressID} is none of the load balancer's addresses: ${addressIDs.join(', ')}`;
    if (!addressIDs.includes(addressID)) throw invalid(`${field}.addressIDs[${index}]`, message);
  });
}

/** A port of an address has one listener for each protocol. */
function checkPorts({ addressIDs, listeners }: LoadBalancer, view: View): void {
  const taken = new Map<string, LoadBalancerListener>();
  listeners.forEach((listener, index) => {
    for (const addressID of listener.addressIDs ?? addressIDs) {
      const key = `${addressID} ${listener.protocol} ${listener.port}`;
      const holder = taken.get(key);
      const whose = holder?.owner === undefined ? '' : ` of ${holder.owner}`;
      const place = `${listener.protocol} ${listener.port} of ${view.state.get('addresses', addressID)?.resource.ip ?? addressID}`;
      if (holder !== undefined) throw invalid(`listeners[${index}].port`, `${place} is taken by listener "${holder.name}"${whose}`);
      taken.set(key, listener);
    }
  });
}

function checkAddress(resource: LoadBalancer, addressID: string, field: string, view: View): void {
  const address = view.state.get('addresses', addressID)?.resource;
  if (address === undefined || address.state === 'deleting') throw invalid(field, `address ${addressID} does not exist`);
  const holder = address.loadBalancerID;
  if (holder === undefined || holder === resource.id) return;
  const name = view.state.get('loadbalancers', holder)?.resource.name;
  throw new ApiFailure('AddressInUse', `address ${address.ip} (${addressID}) is used by load balancer ${name} (${holder})`, { field });
}

/** Addresses say whose they are from the commit that attaches them to the one that detaches them. */
function loadBalancerEffects(before: Entry<LoadBalancer> | undefined, after: Entry<LoadBalancer> | undefined): Effects {
  const loadBalancerID = (after ?? before)?.resource.id ?? '';
  const had = before?.resource.addressIDs ?? [];
  const has = after?.resource.addressIDs ?? [];
  return {
    changes: [
      ...had.filter((addressID) => !has.includes(addressID)).map((addressID) => attach(addressID, null)),
      ...has.filter((addressID) => !had.includes(addressID)).map((addressID) => attach(addressID, loadBalancerID)),
    ],
    parts: [{ kind: 'loadbalancer', id: loadBalancerID }],
  };
}

/** null takes the field away. */
function attach(addressID: string, loadBalancerID: string | null): Change {
  return { kind: 'merge', collection: 'addresses', id: addressID, fields: { loadBalancerID } };
}
