import type { RegisteredCloud } from '../providers/registry';

/** A Node as far as it matters for finding its machine. */
export interface NodeIdentity {
  name: string;
  providerID?: string;
  labels: Record<string, string>;
}

type Owning = Pick<RegisteredCloud, 'name' | 'spec' | 'module'>;

/** `Undecided`: only the clouds' listings can tell, and they were not asked yet. `Nobody`: they were, or no cloud knows this form of providerID. */
export type Ownership = { owner: string } | 'Undecided' | 'Nobody';

interface Finding {
  providerID: string;
  /** Absent = none or several of them had it. */
  provider?: string;
}

/**
 * Whose each Node is (design: Whose Node). Where selectors leave it open, what the listings once said stays true: another CloudProvider of the same kind
 * that comes later, or can't be reached, takes no Node away from the one that has it.
 */
export class NodeOwners {
  private readonly findings = new Map<string, Finding>();
  /** By the Node's name, while it is undecided: the clouds that were asked and don't have it. */
  private readonly denials = new Map<string, { providerID: string; providers: Set<string> }>();
  private readonly listeners = new Set<(nodeName: string) => void>();

  /** @param recorded what was found before a restart, by the Node's name */
  constructor(
    private readonly clouds: () => Owning[],
    private readonly recorded: (nodeName: string) => Finding | undefined,
  ) {}

  of(node: NodeIdentity): Ownership {
    const { providerID = '' } = node;
    const clouds = this.clouds();
    const finding = this.findingOf(node);
    const last = this.lastOwnerOf(node, finding);
    // It is not there, any more or yet: the others may say that they have the Node, but not that nobody does.
    if (last !== undefined && !hasName(clouds, last)) return finding === undefined ? 'Undecided' : 'Nobody';
    const decided = bySelector(clouds, node);
    if (decided !== undefined) return { owner: decided };
    if (providerID === '') return 'Undecided';
    const knowing = knowers(clouds, providerID);
    if (knowing.length === 0) return 'Nobody';
    const found = finding === undefined ? last : finding.provider;
    if (found === undefined) return finding === undefined ? 'Undecided' : 'Nobody';
    return hasName(knowing, found) ? { owner: found } : 'Nobody';
  }

  private findingOf({ name, providerID = '' }: NodeIdentity): Finding | undefined {
    const finding = this.findings.get(name);
    return finding?.providerID === providerID ? finding : undefined;
  }

  /** Who had the Node last, as far as that is known. */
  private lastOwnerOf({ name, providerID = '' }: NodeIdentity, finding: Finding | undefined): string | undefined {
    const recorded = this.recorded(name);
    return finding?.provider ?? (recorded?.providerID === providerID ? recorded.provider : undefined);
  }

  /** CloudProviders whose an undecided Node may be: those of its form that have not said that they don't have it. */
  candidates({ name, providerID = '' }: NodeIdentity): string[] {
    const denial = this.denials.get(name);
    const knowing = knowers(this.clouds(), providerID).map((cloud) => cloud.name);
    return knowing.filter((provider) => denial?.providerID !== providerID || !denial.providers.has(provider));
  }

  /** This cloud does not have the Node, and others that may have it can't be asked: that holds up nothing of this cloud. */
  denied({ name, providerID = '' }: NodeIdentity, provider: string): void {
    const before = this.denials.get(name);
    const denial = before?.providerID === providerID ? before : { providerID, providers: new Set<string>() };
    if (providerID === '' || denial.providers.has(provider)) return;
    denial.providers.add(provider);
    this.denials.set(name, denial);
    this.listeners.forEach((listener) => listener(name));
  }

  /** All clouds that may have the Node were asked. @param provider the only one that has it */
  found(node: NodeIdentity, provider: string | undefined): void {
    const { name, providerID = '' } = node;
    const before = this.findings.get(name);
    this.denials.delete(name);
    if (providerID === '' || (before?.providerID === providerID && before.provider === provider)) return;
    this.findings.set(name, { providerID, ...(provider === undefined ? {} : { provider }) });
    this.listeners.forEach((listener) => listener(name));
  }

  /** Called with a Node's name when something else was found of it, or a cloud has said that it is not its own. */
  onChange(listener: (nodeName: string) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** The Node is gone. */
  forget(name: string): void {
    this.findings.delete(name);
    this.denials.delete(name);
  }
}

/** The cloud makes providerIDs of this form. Pure. */
export function knowsForm({ module }: Pick<RegisteredCloud, 'module'>, providerID: string): boolean {
  return providerID.startsWith(`${module.providerIDScheme}://`) || module.knowsProviderID?.(providerID) === true;
}

/** By providerID, else by selector. Where several clouds have the same form of providerID, their selectors decide. Pure. */
function bySelector(clouds: Owning[], { providerID = '', labels }: NodeIdentity): string | undefined {
  const selecting = (some: Owning[]): Owning[] => some.filter(({ spec }) => selects(spec.nodeSelector, labels));
  if (providerID === '') return onlyOne(selecting(clouds));
  const knowing = knowers(clouds, providerID);
  if (knowing.length <= 1) return onlyOne(knowing);
  const selected = selecting(knowing);
  return onlyOne(selected.length > 0 ? selected : knowing.filter(({ spec }) => spec.nodeSelector === undefined));
}

function knowers(clouds: Owning[], providerID: string): Owning[] {
  return clouds.filter((cloud) => knowsForm(cloud, providerID));
}

function hasName(clouds: Owning[], name: string): boolean {
  return clouds.some((cloud) => cloud.name === name);
}

function onlyOne(clouds: Owning[]): string | undefined {
  return clouds.length === 1 ? clouds[0]?.name : undefined;
}

function selects(selector: Record<string, string> | undefined, labels: Record<string, string>): boolean {
  const wanted = Object.entries(selector ?? {});
  return wanted.length > 0 && wanted.every(([key, value]) => labels[key] === value);
}
