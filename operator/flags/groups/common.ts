import { flag, type FlagGroup } from '../flag';
import { BOOLEAN, DURATION, LEVEL, STRING, VERSION, VMODULE, type VersionRequest } from '../types';

const JSON_LINES = 'the log is one JSON object a line';

export const LOGS = {
  'log-flush-frequency': flag(DURATION, 5_000, 'How often the log is flushed', { inert: 'every line is written at once' }),
  'logging-format': flag(STRING, 'text', 'Format of the log: text or json', { inert: JSON_LINES }),
  v: flag(LEVEL, 0, 'How much is logged: from 4 on debug, from 6 on trace', { shorthand: 'v' }),
  vmodule: flag(VMODULE, '', 'Levels of single source files', {
    inert: 'they are Go files; --v and --log-level hold for the whole program',
  }),
} satisfies FlagGroup;

export const MISC = {
  kubeconfig: flag(STRING, '', 'Kubeconfig of the cluster'),
  master: flag(STRING, '', 'Address of the API server, in place of the one in the kubeconfig'),
} satisfies FlagGroup;

export const GLOBAL = {
  help: flag(BOOLEAN, false, 'show this help', { shorthand: 'h' }),
  version: flag<VersionRequest>(VERSION, 'none', 'print the version; raw = all that is known of it; vX.Y.Z = report this one'),
} satisfies FlagGroup;
