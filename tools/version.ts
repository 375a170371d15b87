import type { Tool } from './catalogue';

type Numbers = [major: number, minor: number, patch: number];

/** The first `1.2.3` or `1.2` in what a tool printed, as `v1.2.3`; undefined when there is none. */
export function versionIn(output: string): string | undefined {
  const match = /\bv?(\d+\.\d+(?:\.\d+)?)/.exec(output);
  return match?.[1] === undefined ? undefined : `v${match[1]}`;
}

/** Says why `version` will not do for `tool`, or gives undefined when it will: from the minimum on, same major. */
export function versionProblem(tool: Tool, version: string): string | undefined {
  if (tool.minimum === undefined) return undefined;
  const found = numbersOf(version);
  const minimum = numbersOf(tool.minimum);
  if (found[0] === minimum[0] && compare(found, minimum) >= 0) return undefined;
  return `it is version ${version}; ${tool.minimum} or newer (below v${minimum[0] + 1}) is needed`;
}

function numbersOf(version: string): Numbers {
  const [major = 0, minor = 0, patch = 0] = version.replace(/^v/, '').split('.').map(Number);
  return [major, minor, patch];
}

function compare(left: Numbers, right: Numbers): number {
  for (let at = 0; at < left.length; at++) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
