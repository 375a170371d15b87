import { OperatorError, toOperatorError } from '../../operator/base/errors';
import type { JsonObject } from '../../operator/base/json';
import type { NodeLabels } from '../provider';
import type { UpdateContext } from '../worker-module';
import type { ResourceType } from './resource-provider';

/** Type token of a package's barriers, without the package: what stands in the state for something in a cloud never ends with it. */
export const MEMBERS_READY = ':index:MembersReady';

const DEADLINE_MS = 30_000;

/** What a barrier goes by. */
export interface BarrierOptions {
  /** After which its create fails, and what depends on it isn't made. */
  deadlineMs?: number;
  /** Whether this update has made the target group; absent = that is not known. */
  isFresh?: (group: string) => boolean;
}

/** Inputs of a barrier. */
export interface MembersReadyInputs {
  /** The cloud's id of a target group. */
  group: string;
  /** The port of its members. */
  port: number;
  /** Of the Nodes that may be members; absent = of all. */
  nodeLabels?: NodeLabels;
  /** TargetGroup.access. */
  access?: JsonObject;
}

/**
 * A barrier between a new target group and what sends traffic to it: it is there once the members path has registered the group's members
 * (design: Replacing what carries traffic). It stands for nothing in the cloud; what needs the members takes its output `group`.
 * @param packageName of the Pulumi package that serves it
 */
export function membersReady(packageName: string, update: UpdateContext, options: BarrierOptions = {}): ResourceType {
  const { deadlineMs = DEADLINE_MS, isFresh = () => false } = options;
  const synced = async (inputs: JsonObject, urn: string, signal: AbortSignal): Promise<void> => {
    const { group, port, nodeLabels, access } = inputs as unknown as MembersReadyInputs;
    if (update.syncTargets === undefined) {
      throw new OperatorError('Unknown', `nobody registers the members of ${group}: the update came without a members path`, {
        resource: urn,
      });
    }
    const more = { ...(nodeLabels !== undefined && { nodeLabels }), ...(access !== undefined && { access }) };
    const work = update.syncTargets({ id: group, port, ...more, ...(isFresh(group) && { fresh: true }) });
    await within(work, { group, urn, signal, deadlineMs });
  };
  return {
    token: `${packageName}${MEMBERS_READY}`,
    replaceOn: ['group'],
    create: async (inputs, { urn, signal }) => {
      await synced(inputs, urn, signal);
      return { id: inputs.group as string, outputs: inputs };
    },
    read: (group) => Promise.resolve({ inputs: { group }, outputs: { group } }),
    update: async (_id, _olds, news, { urn, signal }) => {
      // It has members, and goes on with them; room for more may come of what this update deletes in the end.
      await synced(news, urn, signal).catch((thrown: unknown) => {
        if (toOperatorError(thrown).code !== 'Quota') throw thrown;
      });
      return { outputs: news };
    },
    delete: () => Promise.resolve(),
  };
}

interface Wait {
  group: string;
  urn: string;
  signal: AbortSignal;
  deadlineMs: number;
}

async function within(work: Promise<void>, { group, urn, signal, deadlineMs }: Wait): Promise<void> {
  let end: () => void = () => undefined;
  const stopped = new Promise<never>((_, reject) => {
    const late = new OperatorError('Transient', `the members of ${group} were not registered within ${deadlineMs / 1000} s`, {
      resource: urn,
    });
    const timer = setTimeout(() => reject(late), deadlineMs);
    const abort = (): void => reject(new OperatorError('Canceled', `the update was stopped while it waited for the members of ${group}`));
    signal.addEventListener('abort', abort, { once: true });
    end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    };
  });
  try {
    await Promise.race([work, stopped]);
  } finally {
    end();
  }
}
