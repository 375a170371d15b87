import { CLOUD_LOAD_BALANCERS, CLOUD_ROUTES, CLOUD_STACKS, type Attempt } from '../../../crds';
import { OperatorError } from '../../base/errors';
import { SERVICES } from '../../kube/object';
import type { NamespaceFlags, OutputFormat } from '../cluster-flags';
import { formatTable } from '../table';
import { getOne, withCluster, type Cluster } from './connect';
import type { StoredLoadBalancer, StoredRoute, StoredStack } from '../../explain/kinds';
import { print, terminalPaint, type Paint } from './output';
import type { Tone } from '../../explain/object-state';
import { subjectOf } from './subject';
import { notShown, operationLines } from './waiting-plans';

export interface HistoryFlags extends NamespaceFlags {
  output: OutputFormat;
  plan?: boolean;
}

const TONES: Record<Attempt['result'], Tone> = { Running: 'waiting', Succeeded: 'good', Failed: 'bad', Canceled: 'waiting' };

/** `history`: the last attempts at an object's stack, the newest first. @throws OperatorError NotFound */
export async function history(what: string, flags: HistoryFlags): Promise<void> {
  await withCluster(flags, async (cluster) => {
    const { metadata, status } = await stackNamed(cluster, what);
    const attempts = status?.attempts ?? [];
    const data = { stack: metadata.name, holder: status?.holder, attempts };
    print(flags.output, data, () =>
      textOf(metadata.name, attempts, { wide: flags.output === 'wide', plan: flags.plan === true }, terminalPaint()),
    );
  });
}

async function stackNamed(cluster: Cluster, what: string): Promise<StoredStack> {
  const { resource, key } = subjectOf(what, [CLOUD_LOAD_BALANCERS, SERVICES, CLOUD_ROUTES, CLOUD_STACKS], cluster.namespace);
  if (resource.kind === CLOUD_STACKS.kind) return getOne<StoredStack>(cluster, CLOUD_STACKS, key);
  const carried = resource.kind === SERVICES.kind ? CLOUD_LOAD_BALANCERS : resource;
  const stack = (await getOne<StoredLoadBalancer | StoredRoute>(cluster, carried, key)).status?.stack;
  if (stack !== undefined) return getOne<StoredStack>(cluster, CLOUD_STACKS, stack);
  throw new OperatorError('NotFound', `${carried.kind} ${key} has no stack yet: nothing was tried`, {
    remedy: `kubectl cloud explain ${carried.kind.toLowerCase()}/${key.split('/').at(-1) ?? key}`,
  });
}

interface Shown {
  wide: boolean;
  /** With what each attempt did. */
  plan: boolean;
}

/** Pure. */
export function textOf(stack: string, attempts: readonly Attempt[], { wide, plan }: Shown, paint: Paint): string {
  if (attempts.length === 0) return `Nothing was tried yet at stack ${stack}.\n`;
  const rows = attempts.map((attempt) => rowOf(attempt, wide));
  const tone = (row: number): Tone => TONES[attempts[row]?.result ?? 'Running'];
  const header = ['STARTED', 'KIND', 'CAUSE', 'RESULT', 'TOOK', 'CHANGES', 'CLOUD CALLS', ...(wide ? ['ID'] : []), 'MESSAGE'];
  const table = formatTable(header, rows, (cell, column, row) => (column === 3 ? paint(cell, tone(row)) : cell));
  return plan ? [table, ...attempts.map((attempt) => didText(attempt, paint))].join('\n') : table;
}

function didText({ startedAt, kind, operations = [], omitted = 0 }: Attempt, paint: Paint): string {
  const lines = operations.flatMap((operation) => operationLines(operation, paint));
  const did = [...lines, ...(omitted === 0 ? [] : [notShown(omitted)])];
  return `${[`${startedAt} ${kind}`, ...(did.length === 0 ? ['  no resource was changed'] : did)].join('\n')}\n`;
}

function rowOf(
  { id = '', startedAt, kind, cause, result, durationMs, changes, cloudCalls, code, message }: Attempt,
  wide: boolean,
): string[] {
  const took = durationMs === undefined ? '' : `${(durationMs / 1000).toFixed(1)} s`;
  const told = [code, message]
    .filter((part) => part !== undefined)
    .join(': ')
    .replaceAll(/\s+/g, ' ');
  const shown = wide || told.length <= 80 ? told : `${told.slice(0, 79)}…`;
  return [startedAt, kind, cause ?? 'Change', result, took, changes ?? '', String(cloudCalls ?? ''), ...(wide ? [id] : []), shown];
}
