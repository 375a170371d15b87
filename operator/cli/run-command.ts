import { loadProvider } from '../../providers/registry';
import { OperatorError, toOperatorError } from '../base/errors';
import { formatGoDuration } from '../base/go-duration';
import { parseFlags } from '../flags/parse';
import { RUN_DEFAULTS } from '../flags/run-defaults';
import { FLAGS, type FlagValues } from '../flags/table';
import { flagUsages } from '../flags/usage';
import { validateFlags } from '../flags/validate';
import { defaultProviderOf } from './default-provider';
import { runFromFlags } from './operator-process';
import { versionText } from './version';

/**
 * `cloud-operator run`: every flag of `controller-manager`, with other defaults, and no flag required.
 * @throws OperatorError Invalid with one line about the flag or file at fault
 */
export async function runCommand(args: readonly string[]): Promise<void> {
  const parsed = parseFlags(FLAGS, args, RUN_DEFAULTS);
  const values = parsed.values as FlagValues;
  if (values.help) return void process.stdout.write(`Usage: cloud-operator run [flags]\n\n${flagUsages(RUN_DEFAULTS)}`);
  if (values.version === 'print' || values.version === 'raw') return void process.stdout.write(`${versionText()}\n`);
  if (parsed.positional.length > 0) throw new OperatorError('Invalid', `run takes flags only, not ${JSON.stringify(parsed.positional[0])}`);
  validateFlags(values);
  const kind = values['cloud-provider'];
  if (kind !== '') await loadProvider(kind).catch(unknownKind);
  const flags = { routePeriod: routePeriodOf(values, parsed.given), clusterName: values['cluster-name'] };
  await runFromFlags(values, defaultProviderOf(kind, values['cloud-config'], flags));
}

function unknownKind(thrown: unknown): never {
  throw new OperatorError('Invalid', `--cloud-provider: ${toOperatorError(thrown).message}`, { cause: thrown });
}

/** The flag's value where it was given: it is the default CloudProvider's period. */
export function routePeriodOf(values: FlagValues, given: ReadonlySet<string>): string | undefined {
  return given.has('route-reconciliation-period') ? formatGoDuration(values['route-reconciliation-period']) : undefined;
}
