import { basename, resolve } from 'node:path';
import { Option, type Command } from 'commander';
import type { ControllerManager, Extension, ManifestOptions } from '../../synth/manifests';
import { OperatorError, toOperatorError } from '../base/errors';
import { readSmallFile } from '../base/small-file';
import { findExtension, importsOwnFiles } from '../updates/extension-module';
import { knownSecretsProvider } from '../updates/state/secrets-provider/registry';
import type { Subcommand } from './command';
import { controllerManagerOf, dropInOf } from './manifests-controller-manager';
import { addShapeOptions, SHAPE_OPTIONS, shapeOf, type ShapeFlags } from './manifests-shape';
import { webhooksOf, type WebhookFlags } from './manifests-webhooks';
import { programVersion } from './version';

interface Flags extends WebhookFlags, ShapeFlags {
  out?: string;
  namespace?: string;
  stateNamespace?: string;
  secretsProvider?: string;
  image?: string;
  replicas?: string;
  provider?: string;
  cloudConfig?: string;
  extension?: string;
  extensionInImage?: string;
  controllerManager?: ControllerManager['workload'];
  leaderMigrationConfig?: string;
  serviceAccount?: string;
  crdsOnly?: boolean;
  helm?: boolean;
  oci?: boolean;
}

const MAX_REPLICAS = 10;
/** A ConfigMap has room for 1 MiB; base64 needs a third more. */
const MAX_EXTENSION_KIB = 700;
const MODULE = /^[\w][\w.-]*\.[cm]?[jt]s$/;
const NO_IMAGE =
  'The Pods name the image cloud-operator:dev, which is in no registry; build one (docs/install.md) and give it with --image.\n';

/** What is said by a manifest that is not ours, or has no place without Pods. */
const NOT_OF_A_DROP_IN = [
  ...['namespace', 'stateNamespace', 'secretsProvider', 'image', 'replicas', 'provider', 'cloudConfig'],
  ...['extension', 'extensionInImage', 'controllerManager', 'webhooks', 'crdsOnly', ...SHAPE_OPTIONS],
];

/** `cloud-operator manifests`: writes what has to be applied to a cluster to run the operator there. */
export const manifests: Subcommand = (program: Command): void => {
  addShapeOptions(program.command('manifests'))
    .description('write the Kubernetes manifests of an installation: one file per object, kustomizations, crds.yaml and install.yaml')
    .option(
      '--out <folder>',
      'where to write; files of an earlier run that are no longer needed are removed (default: one manifest, on standard output)',
    )
    .option('--namespace <name>', 'namespace of the operator (default: cloud-operator-system)')
    .option('--state-namespace <name>', 'namespace of the Secrets that hold the stacks’ state (default: the operator’s)')
    .option('--secrets-provider <url>', 'key in a KMS that protects the state’s data keys (default: the Secret that they are in)')
    .option('--image <reference>', 'image of the operator, best by digest')
    .option('--replicas <n>', 'how many operators; one leads (default: 2)')
    .option('--provider <kind>', 'let the operator make a default CloudProvider of this kind; needs --cloud-config')
    .option('--cloud-config <file>', 'YAML or JSON: the spec of that CloudProvider')
    .addOption(
      new Option('--extension <file>', 'an extension in code: one module, which a ConfigMap brings into the Pods').conflicts(
        'extensionInImage',
      ),
    )
    .option('--extension-in-image <module>', 'the same, where the image has it: a path in it, or the name of a package')
    .addOption(
      new Option(
        '--controller-manager <workload>',
        'run `controller-manager` in place of a cloud-controller-manager, with its flags after --',
      ).choices(['Deployment', 'DaemonSet', 'StaticPod']),
    )
    .option('--leader-migration-config <file>', 'which controllers migrate between managers; for controller-manager')
    .addOption(
      new Option(
        '--service-account <namespace/name>',
        'only what your own manifest of a cloud-controller-manager lacks, when its image is ours: CRDs and the rights of its ServiceAccount; its flags after --',
      ).conflicts(NOT_OF_A_DROP_IN),
    )
    .option('--webhooks <names>', 'admission webhooks to serve, as --webhooks of the operator says; needs one of the two that follow')
    .option('--webhook-ca-bundle <file>', 'PEM of the CA of their certificate, which you put into the Secret cloud-operator-webhooks')
    .addOption(
      new Option('--cert-manager', 'let cert-manager make their certificate, and say whom to believe').conflicts('webhookCaBundle'),
    )
    .option('--crds-only', 'only the CRDs')
    .option('--helm', 'a Helm chart of the same as well, in helm/cloud-operator of the folder; what these options say are its values')
    .option('--oci', 'the files as an OCI artifact as well, oci.tar in the folder, for Flux and Argo CD')
    .argument('[flags...]', 'of controller-manager, as your manifest of a cloud-controller-manager has them')
    .action(async (controllerManagerFlags: string[], flags: Flags) => {
      const options = { ...optionsOf(flags, controllerManagerFlags), ...(await checkedParts(flags)) };
      await write(flags, options);
      if (flags.image === undefined && options.crdsOnly !== true && options.dropIn === undefined) process.stderr.write(NO_IMAGE);
    });
};

/** What is tried out before it goes into the manifests: here a person sees what is wrong with it. */
async function checkedParts({ provider, cloudConfig, extension }: Flags): Promise<Pick<ManifestOptions, 'provider'>> {
  if ((provider === undefined) !== (cloudConfig === undefined)) {
    throw new OperatorError('Invalid', '--provider and --cloud-config need each other; without both, write CloudProvider objects');
  }
  if (extension !== undefined) {
    const { exportsOf } = await import('../updates/extension-exports.js');
    await exportsOf(findExtension(extension, process.cwd()));
  }
  if (provider === undefined || cloudConfig === undefined) return {};
  const { flagProviderOf } = await import('./manifests-provider.js');
  return { provider: await flagProviderOf(provider, cloudConfig) };
}

async function write({ out: folder, helm, oci }: Flags, options: ManifestOptions): Promise<void> {
  if (folder === undefined) {
    if (helm === true || oci === true) throw new OperatorError('Invalid', '--helm and --oci write files: say with --out where they go');
    const { oneManifest } = await import('../../synth/output.js');
    process.stdout.write(oneManifest(options));
    return;
  }
  const { writeManifests } = await import('../../synth/write.js');
  const version = programVersion();
  const packages = { ...(helm === true ? { helm: version } : {}), ...(oci === true ? { oci: version } : {}) };
  const { paths, digest } = writeManifests(resolve(folder), options, packages);
  process.stdout.write(`${paths.length} files in ${folder}\n`);
  if (digest !== undefined) process.stdout.write(`oci.tar: ${digest}\n`);
}

/** Flags as text → options. @throws OperatorError Invalid on a flag that can't be used */
export function optionsOf(flags: Flags, controllerManagerFlags: readonly string[] = []): ManifestOptions {
  return {
    ...(flags.namespace === undefined ? {} : { namespace: namespaceOf('--namespace', flags.namespace) }),
    ...(flags.stateNamespace === undefined ? {} : { stateNamespace: namespaceOf('--state-namespace', flags.stateNamespace) }),
    ...(flags.secretsProvider === undefined ? {} : { secretsProvider: knownSecretsProvider(flags.secretsProvider) }),
    ...(flags.image === undefined ? {} : { image: imageOf(flags.image) }),
    ...(flags.replicas === undefined ? {} : { replicas: replicasOf(flags.replicas) }),
    ...(flags.extension === undefined ? {} : { extension: extensionOf(flags.extension) }),
    ...(flags.extensionInImage === undefined ? {} : { extension: { module: flags.extensionInImage } }),
    ...shapeOf(flags),
    ...pasted(flags, controllerManagerFlags),
    ...webhooksOf(flags, controllerManagerFlags),
    crdsOnly: flags.crdsOnly === true,
  };
}

/** What comes from the flags that somebody's manifest has. */
function pasted(
  { controllerManager, leaderMigrationConfig: migrationConfig, serviceAccount }: Flags,
  flags: readonly string[],
): ManifestOptions {
  if (serviceAccount !== undefined) return dropInOf({ serviceAccount: serviceAccountOf(serviceAccount), flags, migrationConfig });
  if (controllerManager === undefined) {
    const more = migrationConfig === undefined ? flags[0] : '--leader-migration-config';
    if (more === undefined) return {};
    throw new OperatorError(
      'Invalid',
      `${more} is for controller-manager: give --controller-manager Deployment or DaemonSet, or --service-account, too`,
    );
  }
  return controllerManagerOf({ workload: controllerManager, flags, migrationConfig });
}

function serviceAccountOf(text: string): { namespace: string; name: string } {
  const [, namespace = '', name = ''] = /^([a-z0-9][-a-z0-9]{0,62})\/([a-z0-9][-a-z0-9.]{0,252})$/.exec(text) ?? [];
  if (namespace !== '') return { namespace, name };
  throw new OperatorError('Invalid', `--service-account "${text}" is no <namespace>/<name>, such as kube-system/cloud-controller-manager`);
}

function namespaceOf(flag: string, text: string): string {
  if (/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text)) return text;
  throw new OperatorError('Invalid', `${flag} "${text}" is no name for a Namespace: lower-case letters, digits and "-", at most 63`);
}

function imageOf(text: string): string {
  if (/^[\w.:/@-]+$/.test(text)) return text;
  throw new OperatorError('Invalid', `--image "${text}" is no image reference; write for example registry.example/cloud-operator@sha256:…`);
}

function replicasOf(text: string): number {
  const replicas = Number(text);
  if (Number.isInteger(replicas) && replicas >= 0 && replicas <= MAX_REPLICAS) return replicas;
  throw new OperatorError('Invalid', `--replicas must be a whole number from 0 to ${MAX_REPLICAS}, not "${text}"`);
}

function extensionOf(file: string): Extension {
  const remedy = 'or build it into the image, and name it with --extension-in-image.';
  const refuse = (why: string, cause?: unknown): OperatorError =>
    new OperatorError('Invalid', `--extension ${why}`, { remedy, ...(cause === undefined ? {} : { cause }) });
  if (!MODULE.test(basename(file))) throw refuse(`${file} is no module by its name: it must end with .ts, .js, .mts, .mjs, .cts or .cjs`);
  let text: string;
  try {
    text = readSmallFile(file, { maxKiB: MAX_EXTENSION_KIB });
  } catch (cause) {
    throw refuse(toOperatorError(cause).message, cause);
  }
  if (importsOwnFiles(text)) throw refuse(`${file} imports other files of its own, which the ConfigMap would not have: bundle it into one`);
  return { file: basename(file), text };
}
