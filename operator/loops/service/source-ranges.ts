import { MAX_SOURCE_RANGES } from '../../../crds';
import type { Service } from '../../kube/object';
import { ANNOTATION_SOURCE_RANGES } from '../../kube/well-known';
import { formatCidr, parseCidr } from '../cidr';
import type { Problem } from './problem';
import { quoted } from './quoted';

const FIELD = 'spec.loadBalancerSourceRanges';

/**
 * Who may connect: the field if it is non-empty, else the annotation (contract 2.12). Entries are trimmed, written in one spelling, and duplicates collapse.
 * @returns no ranges = everybody
 */
export function sourceRangesOf(service: Service): { ranges?: string[]; problems: Problem[] } {
  const where = sourceRangesField(service);
  if (where === FIELD) return parseRanges(service.spec.loadBalancerSourceRanges ?? [], where);
  const annotation = service.metadata.annotations?.[ANNOTATION_SOURCE_RANGES]?.trim() ?? '';
  if (annotation === '') return { problems: [] };
  return parseRanges(annotation.split(','), where);
}

/** Where the Service says who may connect. */
export function sourceRangesField({ spec }: Service): string {
  return (spec.loadBalancerSourceRanges ?? []).length > 0 ? FIELD : `annotation ${ANNOTATION_SOURCE_RANGES}`;
}

/** Contract 2.12: a list lets everybody in when it holds anything/0 in IPv4. */
export function allowsAll(ranges: readonly string[]): boolean {
  return ranges.some((range) => {
    const cidr = parseCidr(range);
    return cidr?.family === 'IPv4' && cidr.prefix === 0;
  });
}

function parseRanges(texts: string[], where: string): { ranges?: string[]; problems: Problem[] } {
  const parsed = texts.map((text) => ({ text, cidr: parseCidr(text.trim()) }));
  const problems = parsed.filter(({ cidr }) => cidr === undefined).map(({ text }) => badRange(text, where));
  if (problems.length > 0) return { problems };
  const ranges = [...new Set(parsed.flatMap(({ cidr }) => (cidr === undefined ? [] : [formatCidr(cidr)])))];
  return ranges.length > MAX_SOURCE_RANGES ? { problems: [tooMany(ranges.length, where)] } : { ranges, problems };
}

function tooMany(count: number, where: string): Problem {
  const message = `${where}: ${count} ranges, and at most ${MAX_SOURCE_RANGES} are possible; put neighbours together in wider ones`;
  return { reason: 'InvalidSourceRange', message };
}

function badRange(text: string, where: string): Problem {
  return {
    reason: 'InvalidSourceRange',
    message: `${where}: ${quoted(text)} is not a CIDR; write for example 203.0.113.0/24, and several separated by commas`,
  };
}
