import { CustomResource, type Input, type Output } from '@pulumi/pulumi';
import type { JsonObject } from '../../../operator/base/json';
import type { ResourceType } from '../../../providers/resource-provider/resource-provider';
import type { WorkerModule } from '../../../providers/worker-module';
import { ProgramRunner } from '../../harness/program-runner';

class Part extends CustomResource {
  declare readonly times: Output<number>;
  constructor(name: string, args: Record<string, Input<unknown>>) {
    super('x:index:Part', name, { ...args, times: undefined });
  }
}

class Follower extends CustomResource {
  constructor(name: string, args: Record<string, Input<unknown>>) {
    super('x:index:Follower', name, args);
  }
}

const worker: WorkerModule = {
  program: ({ port = null }: JsonObject) => {
    const { times } = new Part('part', { port });
    new Follower('follower', { times });
    return Promise.resolve({ times });
  },
  resourceProviders: () => [],
};

/** Counts its writes, which no input says. */
function counting(computed: readonly string[]): ResourceType {
  let times = 0;
  const written = (inputs: JsonObject): JsonObject => ({ ...inputs, times: ++times });
  return {
    token: 'x:index:Part',
    replaceOn: [],
    computed,
    create: (inputs) => Promise.resolve({ id: 'part', outputs: written(inputs) }),
    read: () => Promise.resolve(undefined),
    update: (_id, _olds, news) => Promise.resolve({ outputs: written(news) }),
    delete: () => Promise.resolve(),
  };
}

const follower: ResourceType = { ...counting([]), token: 'x:index:Follower' };

function runnerOf(part: ResourceType): ProgramRunner {
  return new ProgramRunner(worker, [{ package: 'x', version: '1', types: [part, follower] }], 's');
}

describe('an update that is held to its preview', () => {
  test('may give what was unknown as it comes', async () => {
    const runner = runnerOf(counting(['times']));
    for (const port of [1, 2, 2]) await runner.upAsPlanned({ port });
    expect(runner.checkpoint().map(({ inputs }) => inputs)).toEqual([{ port: 2 }, { times: 2 }]);
  });

  test('is caught where a type gives as known what only the write can tell', async () => {
    const runner = runnerOf(counting([]));
    await runner.upAsPlanned({ port: 1 });
    await expect(runner.upAsPlanned({ port: 2 })).rejects.toThrow(
      'the update became something else than its preview said: x:index:Follower follower: times; the stack’s outputs: times',
    );
  });
});
