import { createHash } from 'node:crypto';
import { familyOf } from '../ip-range';

/** The table that is ours; others in the namespace are not touched. */
const TABLE = 'inet localcloud';

/** Where packets pass: those that come in, and those of this namespace's own processes, which are routed anew. */
const HOOKS = new Map([
  ['prerouting', 'type filter hook prerouting priority mangle'],
  ['output', 'type route hook output priority mangle'],
]);

/** One port of one address whose packets go on to Nodes as they are. */
export interface PassthroughListener {
  ip: string;
  protocol: 'TCP' | 'UDP';
  port: number;
  /** Clients that are let in; empty = everybody. */
  sourceRanges: readonly string[];
  /** Milliseconds; 0 = none. */
  affinityMs: number;
  /** Marks of the targets that new connections go to, in turn. */
  fresh: readonly number[];
  /** Marks of those that keep what they have besides. */
  kept: readonly number[];
}

/** A whole ruleset: what it is made of, by name. */
export interface Ruleset {
  /** Name → declaration. A set that stays keeps what is in it. */
  sets: Map<string, string>;
  /** Name → its rules. */
  chains: Map<string, string[]>;
}

/**
 * The rules for all listeners. A connection's target is chosen by its first packet and remembered in the connection's mark, which decides the way
 * of each packet (`ip rule`); answers pass without a mark. Pure.
 *
 * No rule looks into a map or into a set of ranges: when a transaction replaces one, packets that are on their way through the rules just then miss what
 * is in it. Such a packet would have no way, or be refused. Sets of single values have no such moment.
 */
export function rulesetOf(listeners: readonly PassthroughListener[]): Ruleset {
  const sets = new Map<string, string>();
  const chains = new Map<string, string[]>();
  const jumps: string[] = [];
  for (const listener of listeners) {
    const name = nameOf(listener);
    const affinity = affinitySets(listener, name);
    for (const [set, declaration] of affinity.declarations) sets.set(set, declaration);
    chains.set(name, targetRules(listener, affinity.byMark));
    const { ip, protocol, port, sourceRanges } = listener;
    const first = sourceRanges.length === 0 ? name : `${name}_from`;
    if (first !== name) chains.set(first, clientRules(listener, name));
    jumps.push(`ct direction original ${keyword(ip)} daddr ${ip} ${protocol.toLowerCase()} dport ${port} goto ${first}`);
  }
  for (const name of HOOKS.keys()) chains.set(name, jumps);
  return { sets, chains };
}

/** The script that turns one ruleset into the next in one transaction, as `nft -f -` takes it. Pure. */
export function scriptFor(before: Ruleset, after: Ruleset): string {
  const gone = (now: Map<string, unknown>, then: Map<string, unknown>): string[] => [...then.keys()].filter((name) => !now.has(name));
  const lines = [
    `add table ${TABLE}`,
    ...[...HOOKS].map(([name, hook]) => `add chain ${TABLE} ${name} { ${hook} ; policy accept ; }`),
    ...[...after.sets].map(([name, declaration]) => `add set ${TABLE} ${name} { ${declaration} }`),
    ...[...after.chains.keys()].filter((name) => !HOOKS.has(name)).map((name) => `add chain ${TABLE} ${name}`),
    // All chains that were: nothing refers to what goes when it goes.
    ...[...new Set([...before.chains.keys(), ...after.chains.keys()])].map((name) => `flush chain ${TABLE} ${name}`),
    ...[...after.chains].flatMap(([name, rules]) => rules.map((rule) => `add rule ${TABLE} ${name} ${rule}`)),
    ...gone(after.chains, before.chains).map((name) => `delete chain ${TABLE} ${name}`),
    ...gone(after.sets, before.sets).map((name) => `delete set ${TABLE} ${name}`),
  ];
  return `${lines.join('\n')}\n`;
}

/** The script that takes everything of ours away. */
export const REMOVE_SCRIPT = `add table ${TABLE}\ndelete table ${TABLE}\n`;

/** Who is let in goes on to the targets. */
function clientRules({ ip, protocol, sourceRanges }: PassthroughListener, targets: string): string[] {
  const ranges = sourceRanges.filter((range) => familyOf(range) === familyOf(ip));
  return [...ranges.map((range) => `${keyword(ip)} saddr ${range} goto ${targets}`), refusal(protocol)];
}

function targetRules({ ip, protocol, fresh, kept }: PassthroughListener, affinity: ReadonlyMap<number, string>): string[] {
  const refuse = refusal(protocol);
  const known = [...fresh, ...kept];
  return [
    ...(known.length === 0 ? [] : [`ct mark { ${known.join(', ')} } meta mark set ct mark return`]),
    // Its target is gone: TCP is told so, the next datagram gets another one.
    protocol === 'TCP' ? 'ct mark != 0 reject with tcp reset' : 'ct mark != 0 ct mark set 0',
    ...(fresh.length === 0 ? [refuse] : choose(`${keyword(ip)} saddr`, fresh, affinity)),
  ];
}

function refusal(protocol: 'TCP' | 'UDP'): string {
  return protocol === 'TCP' ? 'reject with tcp reset' : 'drop';
}

function choose(source: string, fresh: readonly number[], affinity: ReadonlyMap<number, string>): string[] {
  const bonds = [...affinity].map(([mark, set]) => `${source} @${set} ct mark set ${mark}`);
  return [
    ...bonds,
    // The packet bears whose turn it is until the connection has its target: turns are far below all marks.
    `ct mark 0 meta mark set numgen inc mod ${fresh.length} offset 1`,
    ...fresh.map((mark, index) => `ct mark 0 meta mark ${index + 1} ct mark set ${mark}`),
    ...[...affinity].map(([mark, set]) => `ct mark ${mark} update @${set} { ${source} }`),
    'meta mark set ct mark',
  ];
}

/** One set of clients for each target: a client's bond ends when it was silent for so long. */
function affinitySets(
  { ip, affinityMs, fresh }: PassthroughListener,
  name: string,
): { declarations: Map<string, string>; byMark: Map<number, string> } {
  const byMark = new Map(affinityMs === 0 ? [] : fresh.map((mark) => [mark, `${name}_${mark}_${affinityMs}`]));
  const type = familyOf(ip) === 'IPv4' ? 'ipv4_addr' : 'ipv6_addr';
  const declaration = `type ${type} ; size 65535 ; flags dynamic,timeout ; timeout ${affinityMs}ms ;`;
  return { declarations: new Map([...byMark.values()].map((set) => [set, declaration])), byMark };
}

/** The same for the same place, so that its sets outlive a change. */
function nameOf({ ip, protocol, port }: PassthroughListener): string {
  return `l${createHash('sha256').update(`${ip} ${protocol} ${port}`).digest('hex').slice(0, 12)}`;
}

function keyword(ip: string): 'ip' | 'ip6' {
  return familyOf(ip) === 'IPv4' ? 'ip' : 'ip6';
}
