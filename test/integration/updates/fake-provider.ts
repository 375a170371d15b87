import { request } from 'node:http';
import { CustomResource, type Input, type Output, output, secret } from '@pulumi/pulumi';
import { OperatorError, type ErrorCode } from '../../../operator/base/errors';
import type { JsonObject } from '../../../operator/base/json';
import type { CallOutcome } from '../../../providers/call-gate';
import { membersReady } from '../../../providers/resource-provider/members-ready';
import type { ResourceType } from '../../../providers/resource-provider/resource-provider';
import type { UpdateContext, WorkerModule } from '../../../providers/worker-module';

/** Inputs of the fake program. */
export interface FakeInputs {
  things?: { name: string; size: number; zone?: string; on?: string; password?: string; labels?: Record<string, string> }[];
  /** A target group whose members must be registered before the update goes on. */
  group?: string;
  /** Misbehave. */
  mode?: 'throw' | 'exit' | 'loop' | 'hang' | 'print' | 'twice' | 'nothing' | 'reject' | 'heap' | 'buffers';
  /** URL that is asked, and whose answer nobody waits for. */
  forget?: string;
}

/** How the cloud is reached. */
interface FakeSettings {
  url: string;
  /** Calls go through the account's gate. */
  gated?: boolean;
}

class Thing extends CustomResource {
  declare readonly address: Output<string>;
  constructor(name: string, args: Record<string, Input<unknown>>) {
    super('fake:index:Thing', name, { ...args, address: undefined });
  }
}

class MembersReady extends CustomResource {
  constructor(group: string) {
    super('fake:index:MembersReady', group, { group, port: 80 });
  }
}

async function program(json: JsonObject): Promise<Record<string, unknown>> {
  const inputs = json as FakeInputs;
  misbehave(inputs.mode);
  if (inputs.forget !== undefined) askAndForget(inputs.forget);
  if (inputs.mode === 'buffers') await allocate();
  if (inputs.mode === 'hang') await new Promise(() => setInterval(() => undefined, 1000));
  if (inputs.group !== undefined) new MembersReady(inputs.group);
  const made = new Map<string, Thing>();
  for (const { name, password, on, ...rest } of inputs.things ?? []) {
    const host = on === undefined ? undefined : made.get(on);
    const args = {
      ...rest,
      ...(password === undefined ? {} : { password: secret(password) }),
      ...(host === undefined ? {} : { hostId: host.id }),
    };
    made.set(name, new Thing(name, args));
    if (inputs.mode === 'twice') new Thing(name, args);
  }
  if (inputs.mode === 'nothing') return undefined as unknown as Record<string, unknown>;
  return Object.fromEntries([...made].map(([name, thing]) => [name, output(thing.address)]));
}

function misbehave(mode: FakeInputs['mode']): void {
  if (mode === 'throw') throw new Error('listener 7 is not to my taste');
  if (mode === 'exit') process.exit(3);
  if (mode === 'loop') for (;;);
  if (mode === 'print') process.stdout.write(`${JSON.stringify({ type: 'done', id: 'forged' })}\n`);
  if (mode === 'heap') for (const kept: number[][] = []; ;) kept.push(Array.from({ length: 1e6 }, Math.random));
  if (mode === 'reject') void Promise.reject(new Error('nobody waits for this'));
}

/** Leaves a rejection behind when the connection is cut, whenever that is. */
function askAndForget(url: string): void {
  void new Promise((resolve, reject) => request(url, { method: 'POST' }, resolve).once('error', reject).end('{}'));
}

/** Memory outside of the JavaScript heap, without end. */
async function allocate(): Promise<never> {
  for (const kept: Buffer[] = []; ; await new Promise((resolve) => setTimeout(resolve, 20))) kept.push(Buffer.alloc(16 * 1024 * 1024, 1));
}

interface FakeReply {
  status: number;
  body: {
    id?: string;
    properties?: JsonObject;
    code?: ErrorCode;
    message?: string;
    retryAfterMs?: number;
    field?: string;
    remedy?: string;
  };
}

function outcomeOf({ code, message, retryAfterMs }: FakeReply['body']): CallOutcome {
  if (code === 'Throttled') return { kind: 'Throttled', ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  return code === 'Credentials' ? { kind: 'Refused', message: message ?? '' } : { kind: 'Answered' };
}

function thingType({ url, gated }: FakeSettings, context: UpdateContext): ResourceType {
  const call = async (method: string, path: string, body?: JsonObject): Promise<FakeReply> => {
    const settle = gated === true ? await context.calls?.acquire(method === 'DELETE' ? 'delete' : method) : undefined;
    context.countCall(method);
    if (method !== 'GET') context.assertValid();
    const response = await fetch(`${url}${path}`, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    const reply = { status: response.status, body: (await response.json()) as FakeReply['body'] };
    const { code, message, retryAfterMs, field, remedy } = reply.body;
    settle?.(outcomeOf(reply.body));
    if (code === undefined) return reply;
    throw new OperatorError(code, message ?? '', {
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      ...(field === undefined ? {} : { field }),
      ...(remedy === undefined ? {} : { remedy }),
    });
  };
  return {
    token: 'fake:index:Thing',
    replaceOn: ['zone'],
    check: (inputs) => (Number(inputs.size) > 1000 ? [{ property: 'size', reason: 'must be at most 1000' }] : []),
    create: async (inputs, { name }) => {
      const { body } = await call('POST', '/things', { name, stack: context.stack, properties: inputs });
      return { id: body.id ?? '', outputs: body.properties ?? {} };
    },
    read: async (id) => {
      const { status, body } = await call('GET', `/things/${id}`);
      return status === 404 ? undefined : { inputs: body.properties ?? {}, outputs: body.properties ?? {} };
    },
    update: async (id, _olds, news) => {
      const { body } = await call('PATCH', `/things/${id}`, { properties: news });
      return { outputs: body.properties ?? {} };
    },
    delete: async (id) => void (await call('DELETE', `/things/${id}`)),
  };
}

export const workerModule: WorkerModule = {
  program,
  resourceProviders: (settings, context) => [
    {
      package: 'fake',
      version: '1.0.0',
      types: [thingType(settings as unknown as FakeSettings, context), membersReady('fake', context, { deadlineMs: 500 })],
    },
  ],
};
