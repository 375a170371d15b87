import { flag, type FlagGroup } from '../flag';
import { BOOLEAN } from '../types';

const GO_PROFILER = 'the profiles are those of a Go program; a Node process has its own inspector';

export const DEBUGGING = {
  'contention-profiling': flag(BOOLEAN, false, 'Profile blocking, if profiling is on', { inert: GO_PROFILER }),
  profiling: flag(BOOLEAN, true, 'Serve profiles at /debug/pprof/', { inert: GO_PROFILER }),
} satisfies FlagGroup;
