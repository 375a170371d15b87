import { flag, type FlagGroup } from '../flag';
import { BOOLEAN, DURATION, INT, INT32, ONCE, oneOf, STRING } from '../types';

const MINUTE = 60_000;
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error'] as const;

/** What upstream doesn't have. */
export const CLOUD_OPERATOR = {
  context: flag(STRING, '', 'Context of the kubeconfig'),
  debug: flag(BOOLEAN, false, 'Show a stack trace when something fails (also: DEBUG=1)'),
  extension: flag(ONCE, '', 'Path or package of a module that changes or adds cloud resources (docs/extend.md)'),
  'install-crds': flag(
    BOOLEAN,
    true,
    'As the leader, bring our CRDs into the cluster where they are absent, or older and with our annotation; false = others do',
  ),
  'log-level': flag(oneOf(LOG_LEVELS), '', 'How much is logged: trace, debug, info, warn or error; goes before --v'),
  namespace: flag(STRING, 'cloud-operator-system', 'The operator’s own namespace: the Secrets that it may read'),
  'node-deletion-grace': flag(DURATION, 15_000, 'How long the cloud must say “does not exist” before a Node is deleted'),
  'otlp-endpoint': flag(
    STRING,
    '',
    'Where OpenTelemetry traces go: OTLP over HTTP, such as http://127.0.0.1:4318; empty = as OTEL_EXPORTER_OTLP_ENDPOINT says, else nowhere',
  ),
  port: flag(INT, -1, 'Port on 127.0.0.1 of health and metrics in plain HTTP; 0 = any free one, -1 = none'),
  'prompt-node-removal': flag(
    BOOLEAN,
    true,
    'A Node that the autoscaler is about to remove, or that is being deleted, leaves the load balancers at once; false = at the next change of Nodes that counts, as upstream',
  ),
  'retry-failures': flag(INT32, 10, 'Failures in a row after which a failing object is Stalled (retries go on slowly)'),
  'retry-period': flag(DURATION, 10 * MINUTE, 'Or how long it may fail until then'),
  'secrets-provider': flag(
    STRING,
    'default',
    'What protects new data keys of the state: a key in a KMS, such as awskms://alias/NAME?region=REGION, or default: the Secret that they are in (docs/operate/state.md)',
  ),
  'state-directory': flag(STRING, '', 'The folder, with --state-store=directory; empty = one in the home directory'),
  'state-namespace': flag(STRING, '', 'Namespace of the Secrets with state; empty = the operator’s own'),
  'state-store': flag(
    oneOf(['cluster', 'directory']),
    'cluster',
    'Where the stacks’ state is kept: in Secrets of the cluster, or in a folder',
  ),
  ui: flag(BOOLEAN, false, 'Serve a page at /ui/ of --secure-port, for whoever may get that path; read-only (docs/operate/page.md)'),
  'update-deadline': flag(DURATION, 10 * MINUTE, 'How long a stack update may take'),
  'update-memory': flag(INT32, 1024, 'MB that an update’s worker, and its engine, may use'),
  workers: flag(INT32, 2, 'Stack updates at the same time'),
} satisfies FlagGroup;
