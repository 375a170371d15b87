import { messageWithRemedy, OperatorError, toOperatorError } from '../base/errors';
import { parseFlags, type ParsedFlags } from '../flags/parse';
import { FLAGS, type FlagValues } from '../flags/table';
import { flagUsages } from '../flags/usage';
import { validateFlags } from '../flags/validate';
import { loadProvider } from '../../providers/registry';
import { CONTROLLER_FAILED } from '../managed-controllers';
import { defaultProviderOf, type DefaultProvider } from './default-provider';
import { clusterCidrsOf, migrationOf, nodeCidrsOf } from './operator-options';
import { runFromFlags } from './operator-process';
import { routePeriodOf } from './run-command';
import { programCommit, programVersion, versionText } from './version';

const NAME = 'cloud-controller-manager';
/** Contract 7.4: flags and a lost lease; what upstream calls fatal: a cloud or a controller that can't be used. */
const EXIT = { failed: 1, fatal: 255 };
const ABOUT = `The loops of a cloud-controller-manager (Services, Nodes, routes), which write down what the cloud should look like
as Cloud* objects and let Pulumi make it so.
`;

/**
 * `cloud-operator controller-manager`: says on standard output and error what upstream says.
 * @returns the exit code
 */
export async function controllerManagerCommand(args: readonly string[]): Promise<number> {
  let parsed: ParsedFlags;
  try {
    parsed = parseFlags(FLAGS, args);
  } catch (thrown) {
    return fail(`${usage()}\nError: ${toOperatorError(thrown).message}`, EXIT.failed);
  }
  const values = parsed.values as FlagValues;
  if (values.help) return print(`${ABOUT}\n${usage()}`);
  if (parsed.positional.length > 0) {
    const got = parsed.positional.map((word) => JSON.stringify(word)).join(' ');
    return fail(`Error: "${NAME}" does not take any arguments, got [${got}]`, EXIT.failed);
  }
  const version = versionOf(values);
  return version === undefined ? runWith(values, parsed.given) : print(version);
}

async function runWith(values: FlagValues, given: ReadonlySet<string>): Promise<number> {
  try {
    validateFlags(values, { cloudProviderRequired: true });
    migrationOf(values);
  } catch (thrown) {
    return fail(toOperatorError(thrown).message, EXIT.failed);
  }
  let provider: DefaultProvider | undefined;
  try {
    nodeCidrsOf(values);
    clusterCidrsOf(values);
    refuseEndpointsLock(values);
    provider = await cloudOf(values, given);
  } catch (thrown) {
    return fail(toOperatorError(thrown).message, EXIT.fatal);
  }
  try {
    await runFromFlags(values, provider);
    return 0;
  } catch (thrown) {
    const error = toOperatorError(thrown);
    return fail(messageWithRemedy(error), error.reason === CONTROLLER_FAILED ? EXIT.fatal : EXIT.failed);
  }
}

/** The file may name a kind of lock that no release has had for years; upstream sees it as it makes the lock. */
function refuseEndpointsLock(values: FlagValues): void {
  const migration = migrationOf(values);
  if (migration?.resourceLock === 'endpoints')
    throw new OperatorError('Invalid', 'error creating lock: endpoints lock is removed, migrate to leases: resourceLock: leases');
}

/** Contract 1.7 and 7.4: what upstream's cloud initializer refuses ends the process. */
async function cloudOf(values: FlagValues, given: ReadonlySet<string>): Promise<DefaultProvider | undefined> {
  const kind = values['cloud-provider'];
  if (kind === 'external') return undefined;
  await loadProvider(kind).catch((thrown: unknown) => {
    const cause = toOperatorError(thrown);
    throw Object.assign(
      new Error(`Cloud provider could not be initialized: unknown cloud provider ${JSON.stringify(kind)}: ${cause.message}`),
      {
        cause,
      },
    );
  });
  const flags = { routePeriod: routePeriodOf(values, given), clusterName: values['cluster-name'] };
  return defaultProviderOf(kind, values['cloud-config'], flags);
}

function versionOf({ version }: FlagValues): string | undefined {
  if (version === 'print') return `cloud-operator v${versionText()}\n`;
  if (version !== 'raw') return undefined;
  const [major = '', minor = ''] = programVersion().split('.');
  const commit = programCommit();
  const info = {
    Major: major,
    Minor: minor,
    GitVersion: `v${programVersion()}`,
    ...(commit !== undefined && { GitCommit: commit }),
    Compiler: `node ${process.version}`,
  };
  const fields = Object.entries(info).map(([name, value]) => `${name}:${JSON.stringify(value)}`);
  return `version.Info{${fields.join(', ')}, Platform:"${process.platform}/${process.arch}"}\n`;
}

function usage(): string {
  return `Usage:\n  ${NAME} [flags]\n\n${flagUsages()}`;
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}

function fail(text: string, code: number): number {
  process.stderr.write(`${text}\n`);
  return code;
}
