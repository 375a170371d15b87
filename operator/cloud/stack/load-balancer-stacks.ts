import {
  CLOUD_LOAD_BALANCERS,
  GROUP,
  SERVICE_UID_ANNOTATION,
  type CloudLoadBalancerSpec,
  type CloudLoadBalancerStatus,
  type CloudProviderSpec,
  type CloudStackSpec,
  type Ingress,
  type PlannedOperation,
} from '../../../crds';
import type {
  Adoption,
  DiscoveredResource,
  JsonObject,
  KeptDifference,
  LoadBalancerInput,
  LoadBalancerResult,
  LoadBalancers,
  Problem,
  Replacement,
  TargetGroup,
} from '../../../providers/provider';
import { OperatorError } from '../../base/errors';
import type { LabelSelector } from '../../base/label-selector';
import { keyOf } from '../../kube/object';
import { WARNING, type Verdict, type Warning } from '../conditions';
import type { HostEvents } from '../targets/host-events';
import { adoptionOf } from './adoption';
import { keyOfInput } from './member-input';
import type { MemberKeeper } from '../targets/member-keeper';
import { selectorOf } from '../targets/target-selections';
import { updatePolicyOf, type UpdatePolicy } from '../plan/approval';
import { lossBy } from '../plan/cut';
import { generationOf } from '../plan/generation';
import { policyProblems } from '../providers/policy';
import { isConnected, type ConnectedCloud, type RegisteredCloud } from '../providers/registry';
import type { Stored } from '../stored';
import type { StackState } from '../../updates/update';
import type { Claim } from './port-conflicts';
import type { Knowledge, Made, MemberSettlement, Move, MovedFrom, Settlement, StackKind, StatusFields } from './stack-kind';
import { stackName } from './stack-name';
import type { Vouchers } from '../vouchers';

/** What claims of addresses begin with. */
const ADDRESS = 'address ';

export type StoredLoadBalancer = Stored<CloudLoadBalancerSpec, CloudLoadBalancerStatus>;

/** Stacks that carry load balancers: grouped by placement, their targets kept by the members path. */
export class LoadBalancerStacks implements StackKind<StoredLoadBalancer, LoadBalancerInput> {
  readonly kind: CloudStackSpec['kind'] = 'LoadBalancer';
  readonly crd = `${CLOUD_LOAD_BALANCERS.plural}.${GROUP}`;

  constructor(
    private readonly members: MemberKeeper,
    private readonly vouchers: Vouchers,
    private readonly hosts: HostEvents,
    private readonly clusterID: string,
  ) {}

  stackOf(object: StoredLoadBalancer, cloud: RegisteredCloud | undefined): string | undefined {
    const loadBalancers = cloud?.cloud?.loadBalancers;
    if (cloud === undefined || loadBalancers === undefined) return undefined;
    const { placement } = object.spec;
    if (placement === undefined) {
      const of = loadBalancers.defaultPlacement(inputOf(object));
      return stackName('lb', of === object.metadata.uid ? keyOf(object.metadata) : of, [cloud.name, of]);
    }
    const key = `${placement.namespace ?? object.metadata.namespace ?? ''}/${placement.name}`;
    return stackName('lb', key, [cloud.name, 'placement', key]);
  }

  problems(object: StoredLoadBalancer, cloud: ConnectedCloud): Problem[] {
    const { metadata, spec } = object;
    const named = cloud.cloud.loadBalancers?.named?.(spec) ?? [];
    const policy = policyProblems(cloud.spec.policy, { namespace: metadata.namespace ?? '', spec, named });
    const foreign = foreignBlock(spec, cloud);
    return foreign === undefined ? [...policy, ...capability(cloud).validate(spec)] : [...policy, foreign];
  }

  /** What provider and policy don't refuse, but the author should know. */
  warningsOf(object: StoredLoadBalancer, cloud: RegisteredCloud | undefined): Warning[] {
    if (!isConnected(cloud)) return [];
    const texts = this.problems(object, cloud).flatMap(({ severity, message }) => (severity === 'Warning' ? [message] : []));
    return texts.length === 0 ? [] : [{ type: WARNING, reason: 'NotSupported', message: texts.join(' ') }];
  }

  readonly inputOf = inputOf;

  adoption(stack: string, object: StoredLoadBalancer, cloud: ConnectedCloud): Promise<Adoption | undefined> {
    return adoptionOf(stack, object, inputOf(object), cloud);
  }

  updatePolicy(object: StoredLoadBalancer, provider: CloudProviderSpec | undefined): UpdatePolicy | undefined {
    return updatePolicyOf(object, provider);
  }

  replacement(accepted: LoadBalancerInput, wanted: LoadBalancerInput, cloud: ConnectedCloud): Replacement | undefined {
    return capability(cloud).replacement?.(accepted, wanted);
  }

  inputFound(object: StoredLoadBalancer, found: readonly DiscoveredResource[], cloud: ConnectedCloud): LoadBalancerInput | undefined {
    const loadBalancers = capability(cloud);
    const wanted = inputOf(object);
    const generation = loadBalancers.recognize?.(found, wanted)?.generation;
    if (generation === undefined) return undefined;
    const input = generation === 0 ? wanted : { ...wanted, generation };
    return { ...input, spec: loadBalancers.madeFrom?.(found, input) ?? wanted.spec };
  }

  /**
   * Both load balancers are there for a while, and one without targets must not take over from one that has some. What can't be on both, such as an
   * address, goes first, unless others there need it as well.
   */
  move(from: MovedFrom<LoadBalancerInput>, wanted: LoadBalancerInput, cloud: ConnectedCloud): Move {
    const once = onceOf(wanted, cloud).filter((one) => onceOf(from.input, from.cloud ?? cloud).includes(one));
    const moves = `${moveOf(from.input, wanted)} moves it to another load balancer`;
    const holder = (from.others as readonly LoadBalancerInput[]).find((other) =>
      onceOf(other, from.cloud ?? cloud).some((one) => once.includes(one)),
    );
    if (holder !== undefined) {
      const message = `${moves}, and ${once.join(', ')} stays with ${keyOfInput(holder)}, which has it too; ask for another address`;
      return { why: moves, obstacle: { state: 'Stalled', reason: 'Invalid', message } };
    }
    const gap = once.length > 0;
    const why = gap ? `${moves}, delete first, with a gap in traffic, because ${once.join(', ')} can't be on both` : moves;
    const targets = (of: ConnectedCloud): number => this.members.targets(of.name).length;
    if (from.cloud === undefined || targets(cloud) > 0 || targets(from.cloud) === 0) return { why, gap };
    const message = `${why}; that begins when CloudProvider ${cloud.name} has an eligible Node`;
    return { why, gap, obstacle: { state: 'Reconciling', reason: 'AwaitingNodes', message } };
  }

  async syncTargets(stack: string, group: TargetGroup, cloud: ConnectedCloud): Promise<void> {
    await this.members.sync(cloud.name, [{ ...group, stack }]);
  }

  /** Its ports at its addresses, and what else its cloud gives to one; who asks for no address gets the one that all of the placement and scheme share, where the cloud has such. */
  claims(input: LoadBalancerInput, cloud: ConnectedCloud | undefined, made?: Made<LoadBalancerInput>): Claim[] {
    const { spec, retiring } = input;
    const { addresses = [], scheme, listeners } = spec;
    const shared = addresses.length > 0 ? addresses : [`the shared ${scheme.toLowerCase()} address`];
    const places = cloud?.cloud.loadBalancers?.places?.(input, addressesKept(made, input, cloud)) ?? shared;
    const ports = places.flatMap((place) => listeners.map(({ port, protocol }) => `port ${port}/${protocol} of ${place}`));
    const own = [...togetherOf(input, cloud), ...ports, ...(cloud?.cloud.loadBalancers?.sole?.(spec) ?? [])];
    return retiring === undefined ? own : [...new Set([...own, ...this.claims(retiring.input, cloud)])];
  }

  conflict(claim: string): { reason: string; remedy: string } {
    if (claim.startsWith('port ')) return { reason: 'PortConflict', remedy: 'take another port' };
    if (claim.startsWith(ADDRESS))
      return { reason: 'Conflict', remedy: 'ask for another address, or for all else as that one does, to share its load balancer' };
    return { reason: 'Conflict', remedy: 'leave it to that one' };
  }

  render(stack: string, inputs: LoadBalancerInput[], cloud: ConnectedCloud): JsonObject {
    const selectors: (LabelSelector | undefined)[] = [];
    const rendered = capability(cloud).render(stack, inputs, (selector) => {
      selectors.push(selector);
      return this.members.decidedTargets(cloud.name, selector);
    });
    this.members.hold(stack, selectors);
    return rendered;
  }

  withoutTargets(rendered: JsonObject, cloud: ConnectedCloud): JsonObject {
    return capability(cloud).withoutTargets?.(rendered) ?? rendered;
  }

  lossBy(operation: PlannedOperation, cloud: ConnectedCloud): string | undefined {
    return lossBy(operation) ?? capability(cloud).lossBy?.(operation);
  }

  attribute(error: OperatorError, inputs: LoadBalancerInput[], cloud: ConnectedCloud): string[] {
    return capability(cloud).attribute?.(error, inputs) ?? [];
  }

  async settle(
    settlement: MemberSettlement,
    object: StoredLoadBalancer,
    input: LoadBalancerInput,
  ): Promise<{ fields: StatusFields; verdict: Verdict }> {
    const { stack, cloud, result } = settlement;
    const { ingress, groups } = await this.register(settlement, input, object);
    this.vouchers.vouch(object.metadata, ingress);
    const address = addressOf(ingress);
    const kept = capability(cloud).keptDifferences?.(input) ?? [];
    const targets = Math.max(0, ...groups.map(({ nodeLabels }) => this.members.targets(cloud.name, selectorOf(nodeLabels)).length));
    const fields: StatusFields = {
      ...this.identity(object),
      stack,
      incarnation: result.incarnation,
      address,
      ports: input.spec.listeners.map(({ port, protocol }) => `${port}/${protocol}`).join(','),
      ingress,
      targetGroups: settlement.targets ? this.members.claimOf(cloud.name, groups) : undefined,
      keptAsAdopted: kept.length > 0 ? kept : undefined,
    };
    const where = `serving at ${address ?? 'no address'}${asAdopted(kept)}`;
    if (targets > 0) return { fields, verdict: servingVerdict(where, this.members.limitsOf(cloud.name, groups)) };
    const why = `no Node of CloudProvider ${cloud.name} can take traffic (docs/troubleshoot.md)`;
    return { fields, verdict: { state: 'Ready', reason: 'NoTargets', message: `${where}, but ${why}` } };
  }

  async keep(settlement: Settlement, input: LoadBalancerInput): Promise<void> {
    await this.register({ ...settlement, targets: true }, input);
  }

  /** Brings the targets of one member's groups up to date. @returns these and its points of entry */
  private async register(
    { stack, cloud, result, targets }: MemberSettlement,
    input: LoadBalancerInput,
    object?: StoredLoadBalancer,
  ): Promise<{ ingress: Ingress[]; groups: TargetGroup[] }> {
    const found = capability(cloud).results(result.outputs, input.uid);
    if (found === undefined) {
      throw new OperatorError('Unknown', `the stack's outputs say nothing of ${keyOfInput(input)}`, {
        remedy: 'Delete the CloudLoadBalancer to make it anew.',
      });
    }
    const groups = found.targetGroups.map((group) => ({ ...group, stack }));
    if (targets) await this.sync(cloud.name, groups, object);
    return { ingress: found.ingress, groups };
  }

  /** Only groups that bear this stack's mark in the cloud are written to, wherever their ids came from (Members.sync). */
  async follow(object: StoredLoadBalancer, known: Knowledge): Promise<void> {
    const { stack = '', cloud } = known;
    const result = this.resultOf(object, known);
    if (cloud === undefined || result === undefined) return;
    this.vouchers.vouch(object.metadata, result.ingress);
    const groups = result.targetGroups.map((group) => ({ ...group, stack }));
    await this.sync(cloud.name, groups, object);
  }

  private resultOf(object: StoredLoadBalancer, { cloud, state, found }: Knowledge): LoadBalancerResult | undefined {
    const loadBalancers = cloud?.cloud.loadBalancers;
    const made = loadBalancers?.results(state?.outputs ?? {}, object.metadata.uid);
    if (made !== undefined && state !== undefined && isDeleted(state, loadBalancers)) return { ...made, ingress: [] };
    return made === undefined && found !== undefined ? loadBalancers?.recognize?.(found, inputOf(object)) : made;
  }

  private async sync(provider: string, groups: TargetGroup[], object: StoredLoadBalancer | undefined): Promise<void> {
    const sync = (): Promise<number> => this.members.sync(provider, groups, object);
    await (object === undefined ? sync() : this.hosts.tell(object, this.members.targets(provider), sync));
  }

  keptFields(object: StoredLoadBalancer, known: Knowledge): StatusFields {
    const { clusterID, objectUID, stack, incarnation, address, ports, keptAsAdopted } = this.trusted(object) ?? {};
    const ingress = this.published(object, known);
    if (ingress === undefined) return { clusterID, objectUID, stack, incarnation, address, ports, ingress };
    const life = known.state === undefined ? { stack, incarnation } : { stack: known.stack, incarnation: known.state.incarnation };
    return { ...this.identity(object), ...life, address: addressOf(ingress), ports, ingress, keptAsAdopted };
  }

  serving(object: StoredLoadBalancer, known: Knowledge): boolean {
    return (this.published(object, known) ?? []).length > 0;
  }

  /** The points of entry by the stack's state, else by what the cloud has; of what was given up, those it had; only while there is no connection to the cloud, which alone can read that, by the status. */
  private published(object: StoredLoadBalancer, known: Knowledge): Ingress[] | undefined {
    if (known.cloud?.cloud.loadBalancers === undefined) return this.trusted(object)?.ingress;
    const ingress = isGivenUp(object, known) ? this.trusted(object)?.ingress : this.resultOf(object, known)?.ingress;
    this.vouchers.vouch(object.metadata, ingress);
    return ingress;
  }

  private identity(object: StoredLoadBalancer): StatusFields {
    return { clusterID: this.clusterID, objectUID: object.metadata.uid };
  }

  /** A status written for another object or cluster says nothing about this one (design: Status used as input is not trusted). */
  private trusted(object: StoredLoadBalancer): CloudLoadBalancerStatus | undefined {
    const { status } = object;
    return status?.objectUID === object.metadata.uid && status.clusterID === this.clusterID ? status : undefined;
  }
}

/** The outputs are of the last update that succeeded; one that failed may have deleted what they speak of. */
function isDeleted({ resources }: Pick<StackState, 'resources'>, { entries }: Pick<LoadBalancers, 'entries'> = {}): boolean {
  return entries !== undefined && !resources.some(({ type }) => entries.includes(type));
}

/** Others look after it, or nobody; whoever uses it finds it where it was. */
function isGivenUp({ spec }: StoredLoadBalancer, { state }: Knowledge): boolean {
  return spec.managementPolicy === 'Released' && state === undefined;
}

function capability(cloud: ConnectedCloud): LoadBalancers {
  const { loadBalancers } = cloud.cloud;
  if (loadBalancers === undefined) {
    throw new OperatorError('Invalid', `the cloud provider does not support external load balancers`, { field: 'spec.provider' });
  }
  return loadBalancers;
}

/** @param limits that keep some of the Nodes out; the others take its traffic */
function servingVerdict(where: string, limits: readonly string[]): Verdict {
  if (limits.length === 0) return { state: 'Ready', message: where };
  return { state: 'Ready', reason: 'TooManyNodes', message: `${where}, but ${limits.join(' ')}` };
}

function asAdopted(kept: readonly KeptDifference[]): string {
  if (kept.length === 0) return '';
  return `; as it was taken over stays ${kept.map(({ field }) => field).join(', ')} (status.keptAsAdopted)`;
}

/** The addresses that it has by its stack's outputs, where the input leaves it those. */
function addressesKept(made: Made<LoadBalancerInput> | undefined, input: LoadBalancerInput, cloud: ConnectedCloud | undefined): string[] {
  if (made === undefined) return [];
  const loadBalancers = cloud?.cloud.loadBalancers;
  const stays = generationOf(made.input) === generationOf(input) && loadBalancers?.replacement?.(made.input, input) === undefined;
  return stays ? (loadBalancers?.results(made.outputs, input.uid)?.ingress ?? []).flatMap(({ ip }) => ip ?? []) : [];
}

function togetherOf(input: LoadBalancerInput, cloud: ConnectedCloud | undefined): Claim[] {
  const { addresses, by } = cloud?.cloud.loadBalancers?.together?.(input) ?? { addresses: [], by: '' };
  return addresses.map((address) => ({ claim: `${ADDRESS}${address}`, by }));
}

/** What of it only one load balancer can have. */
function onceOf({ spec }: LoadBalancerInput, cloud: ConnectedCloud): string[] {
  return cloud.cloud.loadBalancers?.exclusive?.(spec) ?? spec.addresses ?? [];
}

/** The Service's UID is the base of cloud names, also after `kubectl delete service --cascade=orphan` has taken the owner reference away. Pure. */
export function ownerUIDOf({ metadata: { uid, annotations } }: StoredLoadBalancer): string {
  return annotations?.[SERVICE_UID_ANNOTATION] ?? uid;
}

function inputOf(object: StoredLoadBalancer): LoadBalancerInput {
  const { uid, name, namespace } = object.metadata;
  // How changes reach the cloud is no part of what is in it.
  const spec = { ...object.spec };
  delete spec.updatePolicy;
  delete spec.managementPolicy;
  delete spec.deletionPolicy;
  delete spec.driftInterval;
  delete spec.maintenanceWindows;
  delete spec.adopt;
  delete spec.adoptID;
  return { uid, name, namespace: namespace ?? '', ownerUID: ownerUIDOf(object), spec };
}

/** The change that asks for another stack. */
function moveOf({ namespace, spec: before }: LoadBalancerInput, { spec: after }: LoadBalancerInput): string {
  if (before.provider !== after.provider) return `the change of spec.provider from ${before.provider} to ${after.provider}`;
  const named = ({ placement }: CloudLoadBalancerSpec): string =>
    placement === undefined ? 'none' : `${placement.namespace ?? namespace}/${placement.name}`;
  if (named(before) === named(after)) return `the change of ${before.scheme === after.scheme ? 'its settings' : 'spec.scheme'}`;
  return `the change of spec.placement from ${named(before)} to ${named(after)}`;
}

function addressOf([first]: Ingress[]): string | undefined {
  return first?.hostname ?? first?.ip;
}

/** Settings for another kind of cloud; without a block, the load balancer is as the cloud's defaults are. */
function foreignBlock(spec: CloudLoadBalancerSpec, { name, kind, spec: { custom } }: ConnectedCloud): Problem | undefined {
  const own = custom === undefined ? kind : 'custom';
  const block = (['aws', 'azure', 'local', 'custom'] as const).find((each) => each !== own && spec[each] !== undefined);
  if (block === undefined) return undefined;
  const message = `spec.${block} is for another cloud: CloudProvider ${name} is a ${kind} cloud. Remove it; settings for this one go into spec.${own}`;
  return { severity: 'Error', field: `spec.${block}`, value: '', message };
}
