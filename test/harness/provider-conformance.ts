import * as fc from 'fast-check';
import type { CloudLoadBalancerSpec, CloudProviderSpec, CloudRouteSpec } from '../../crds';
import { OperatorError } from '../../operator/base/errors';
import { canonicalJson, type JsonObject } from '../../operator/base/json';
import { urnOf } from '../../operator/updates/checkpoint';
import { driftOf, match } from '../../operator/updates/drift';
import type {
  Adoption,
  Cloud,
  DiscoveredResource,
  LoadBalancerInput,
  LoadBalancerResult,
  ProviderModule,
  RouteInput,
  Target,
} from '../../providers/provider';
import { isStateOnly } from '../../providers/resource-provider/own-package';
import type { UpdateContext, WorkerModule } from '../../providers/worker-module';
import { ProgramRunner, type RunnerResource } from './program-runner';

/** A real cloud to try a provider on, and what the suite must know of it. */
export interface ProviderUnderTest {
  module: ProviderModule;
  worker: WorkerModule;
  settings: CloudProviderSpec;
  /** What stands before the names of the cloud's annotations. */
  annotationPrefix: string;
  /** Annotations with good values, and with values that can't be read. */
  annotations: { good: Record<string, string>; bad: Record<string, string> };
  /** True where the kind's schema accepts a block that `compile` gave. */
  acceptsBlock(block: JsonObject): boolean;
  /** A spec that the cloud can carry, with `listeners` ports from 8000 on. */
  loadBalancer(listeners: number): CloudLoadBalancerSpec;
  /** The same load balancer with changes that need no replacement, and with one that does. */
  changes: { inPlace(spec: CloudLoadBalancerSpec): CloudLoadBalancerSpec; replacing?(spec: CloudLoadBalancerSpec): CloudLoadBalancerSpec };
  /** The same with what only one load balancer can have, and how `exclusive` names that; absent = the provider has no `exclusive`. */
  exclusive?: { of(spec: CloudLoadBalancerSpec): CloudLoadBalancerSpec; names: string[] };
  /** Any value that the kind's schema lets through, however odd. */
  anyLoadBalancer: fc.Arbitrary<CloudLoadBalancerSpec>;
  route?(destinationCIDR: string, target: Target): CloudRouteSpec;
  /** Makes machines of this cluster, or of another one, in the cloud. */
  makeInstances(count: number, clusterID?: string): Promise<Target[]>;
  control: CloudControl;
  /** True for what every load balancer of a stack has in common, by its id in the cloud; absent = nothing is. */
  isShared?(id: string): boolean;
  /** How many calls more a load balancer of one listener costs in `discover`, where the cloud tells of some things one by one only; absent = none. */
  discoveryCallsEach?: number;
  /** How many lists `instances.list` takes; absent = one. */
  instanceLists?: number;
  /** What can't be changed in place gets another name with its generation alone: no update replaces it under the same name. */
  replacesByGeneration?: true;
  stop(): Promise<void>;
}

/** What the suite does to the cloud behind the provider's back. */
export interface CloudControl {
  /** Calls since the last reset, by names, for whoever reads why a test failed. */
  calls(): Promise<{ writes: number; calls: readonly string[] }>;
  resetCalls(): Promise<void>;
  /** Every write of the given kind is carried out, but its answer is lost; at most `times`. */
  loseAnswers(verb: 'create' | 'update' | 'delete', times: number): Promise<void>;
  /** Every list is refused. */
  failLists(): Promise<void>;
  healthy(): Promise<void>;
  /** Changes a property of a discovered resource that the program sets. */
  tamper(resource: DiscoveredResource): Promise<void>;
  /** Marks a resource as somebody else's. */
  disown(resource: DiscoveredResource): Promise<void>;
  setTargets(groupID: string, targets: Target[], port: number): Promise<void>;
}

const CLUSTER = '0a1b2c3d-1111-4222-8333-444455556666';
const OTHER_CLUSTER = 'ffffffff-1111-4222-8333-444455556666';

/**
 * The rules of docs/provider-contract.md as tests; each test names its rules.
 * @param start brings up a real cloud; called once
 */
export function describeProviderConformance(name: string, start: () => Promise<ProviderUnderTest>): void {
  describe(`${name} keeps the provider contract`, () => {
    const suite = new Suite(start);
    beforeAll(() => suite.begin(), 60_000);
    afterEach(() => suite.clean());
    afterAll(() => suite.end());
    describeAnnotations(suite);
    describeRendering(suite);
    describeResources(suite);
    describeDiscovery(suite);
    describeMembers(suite);
    describeInstances(suite);
    describeRoutes(suite);
  });
}

/** The state of one suite: the cloud, a connection, and the stacks made so far. */
class Suite {
  under!: ProviderUnderTest;
  cloud!: Cloud;
  valid = true;
  counted = 0;
  /** Target groups whose members an update asked for. */
  synced: string[] = [];
  /** Why members can't be registered. */
  syncFailure: OperatorError | undefined;
  private readonly runners: ProgramRunner[] = [];
  private serial = 0;

  constructor(private readonly start: () => Promise<ProviderUnderTest>) {}

  async begin(): Promise<void> {
    this.under = await this.start();
    this.cloud = await this.connect();
  }

  connect(clusterID = CLUSTER): Promise<Cloud> {
    const readSecret = () => Promise.reject(new OperatorError('NotFound', 'no secrets here'));
    return this.under.module.connect(this.under.settings, { clusterID, providerName: 'conformance', readSecret });
  }

  async clean(): Promise<void> {
    this.valid = true;
    this.synced = [];
    this.syncFailure = undefined;
    await this.under.control.healthy();
    for (const runner of this.runners.splice(0)) await runner.destroy();
  }

  async end(): Promise<void> {
    await this.cloud.close();
    await this.under.stop();
  }

  input(listeners = 1): LoadBalancerInput {
    const number = String(++this.serial).padStart(8, '0');
    const uid = `${number}-0000-4000-8000-111111111111`;
    const ownerUID = `${number}-0000-4000-8000-222222222222`;
    return { uid, ownerUID, namespace: 'demo', name: `web-${this.serial}`, spec: this.under.loadBalancer(listeners) };
  }

  stack(): string {
    return `stack-${++this.serial}`;
  }

  runner(stack: string): ProgramRunner {
    const context: UpdateContext = {
      stack,
      clusterID: CLUSTER,
      assertValid: () => {
        if (!this.valid) throw new OperatorError('Canceled', 'the lease is gone');
      },
      countCall: () => void this.counted++,
      syncTargets: ({ id }) => {
        if (this.syncFailure !== undefined) return Promise.reject(this.syncFailure);
        this.synced.push(id);
        return Promise.resolve();
      },
    };
    const runner = new ProgramRunner(this.under.worker, this.under.worker.resourceProviders(this.cloud.workerSettings(), context), stack);
    this.runners.push(runner);
    return runner;
  }

  render(stack: string, ...inputs: LoadBalancerInput[]): JsonObject {
    return this.cloud.loadBalancers!.render(stack, inputs, () => []);
  }

  async found(stack: string): Promise<DiscoveredResource[]> {
    return (await this.cloud.discover!([stack])).get(stack) ?? [];
  }

  /** What of the stack's state bears marks in the cloud. */
  async marked(stack: string, runner: ProgramRunner): Promise<RunnerResource[]> {
    return divided(await this.found(stack), runner.checkpoint()).marked;
  }

  /** Without a state, what bears no mark is nothing of the stack's. */
  async discovered(stack: string): Promise<DiscoveredResource[]> {
    return (await this.found(stack)).filter(({ unmarked }) => unmarked !== true);
  }

  /** Writes that `act` makes. */
  async writes(act: () => Promise<unknown>): Promise<number> {
    await this.under.control.resetCalls();
    await act();
    return (await this.under.control.calls()).writes;
  }

  /** A load balancer that stands. */
  async standing(listeners = 1): Promise<Standing> {
    const input = this.input(listeners);
    const stack = this.stack();
    const runner = this.runner(stack);
    const outputs = await runner.up(this.render(stack, input));
    return { input, stack, runner, outputs };
  }
}

interface Standing {
  input: LoadBalancerInput;
  stack: string;
  runner: ProgramRunner;
  outputs: JsonObject;
}

function describeAnnotations(suite: Suite): void {
  test('P-4: compile never throws, and its block is always one that the kind accepts', () => {
    const { module, annotationPrefix, annotations } = suite.under;
    const keys = fc.oneof(
      fc.constantFrom(...Object.keys(annotations.good)),
      fc.string(),
      fc.string().map((text) => annotationPrefix + text),
    );
    fc.assert(
      fc.property(fc.dictionary(keys, fc.oneof(fc.string(), fc.constantFrom(...Object.values(annotations.good)))), (given) => {
        const { block, problems } = module.compile(given);
        expect(suite.under.acceptsBlock(block)).toBe(true);
        expect(module.compile(given)).toEqual({ block, problems });
      }),
    );
  });

  test('P-5: good annotations give no problem, others are told to their author, foreign ones are left alone', () => {
    const { module, annotationPrefix, annotations } = suite.under;
    const good = module.compile({ ...annotations.good, 'example.com/other': 'x' });
    expect(good.problems).toEqual([]);
    expect(Object.keys(good.block).length).toBeGreaterThan(0);
    const unknown = module.compile({ ...annotations.good, [`${annotationPrefix}no-such-thing`]: 'x' });
    expect(unknown.problems).toMatchObject([{ severity: 'Warning', field: `${annotationPrefix}no-such-thing`, value: 'x' }]);
    expect(unknown.block).toEqual(good.block);
    for (const [key, value] of Object.entries(annotations.bad)) {
      const { problems } = module.compile({ [key]: value });
      expect(problems).toMatchObject([{ severity: 'Error', field: key, value }]);
      expect(problems[0]?.message).toContain(value);
    }
  });
}

function describeRendering(suite: Suite): void {
  test('P-39: what only one load balancer can have is named by its spec alone, and keeps a change of it from standing beside itself', () => {
    const loadBalancers = suite.cloud.loadBalancers!;
    const { exclusive, changes } = suite.under;
    expect(loadBalancers.exclusive === undefined).toBe(exclusive === undefined);
    if (exclusive === undefined) return; // then it is spec.addresses
    const input = suite.input();
    const spec = exclusive.of(input.spec);
    expect(loadBalancers.exclusive!(spec)).toEqual(exclusive.names);
    expect(loadBalancers.exclusive!(copyOf(spec))).toEqual(exclusive.names);
    expect(loadBalancers.exclusive!(input.spec)).toEqual([]);
    if (changes.replacing === undefined) return;
    const replaced = { ...input, spec: changes.replacing(spec) };
    expect(loadBalancers.replacement?.({ ...input, spec }, replaced)).toMatchObject({ gap: true });
  });

  test('P-6, P-7: validate and render take whatever the schema lets through; render is deterministic JSON', () => {
    const loadBalancers = suite.cloud.loadBalancers!;
    fc.assert(
      fc.property(suite.under.anyLoadBalancer, (spec) => {
        for (const { field, message } of loadBalancers.validate(spec)) expect(field === '' || message === '').toBe(false);
        const input = { ...suite.input(), spec };
        const rendered = suite.render('s', input);
        expect(JSON.parse(JSON.stringify(rendered))).toEqual(rendered);
        expect(canonicalJson(suite.render('s', copyOf(input)))).toBe(canonicalJson(rendered));
      }),
      { numRuns: 50 },
    );
  });

  test('P-7: the order of inputs does not matter', () => {
    const inputs = [suite.input(), suite.input(2), suite.input(3)];
    expect(canonicalJson(suite.render('s', ...inputs))).toBe(canonicalJson(suite.render('s', ...inputs.toReversed())));
  });

  test('P-42: without a members path the Nodes are in what the program gets; a Node more is one write, and the same ones in another order are none', async () => {
    const loadBalancers = suite.cloud.loadBalancers!;
    const { input, stack, runner } = await suite.standing();
    const [node] = await suite.under.makeInstances(1);
    const render = (targets: Target[]): JsonObject =>
      loadBalancers.render(stack, [input], (labels) => (labels === undefined ? targets : []));
    if (suite.cloud.members !== undefined) {
      expect(render([node!])).toEqual(render([]));
      return;
    }
    // Of several load balancers a Node is behind one: enough for all of them, and another that is behind this one.
    const others = (net: number): Target[] =>
      Array.from({ length: 100 }, (_, index) => ({ ...node!, nodeName: `more-${net}-${index}`, addresses: [`10.0.${net}.${index}`] }));
    const fewer = [node!, ...others(9)];
    const without = canonicalJson(render(fewer));
    const nodes = [...fewer, others(8).find((one) => canonicalJson(render([...fewer, one])) !== without)!];
    expect(canonicalJson(render(nodes.toReversed()))).toBe(canonicalJson(render(nodes)));
    await runner.up(render(fewer));
    expect(await suite.writes(() => runner.up(render(nodes)))).toBe(1);
    expectSame(await suite.found(stack), runner.checkpoint());
    await suite.under.control.resetCalls();
    await runner.up(render(nodes.toReversed()));
    expect((await suite.under.control.calls()).calls).toEqual([]);
  });

  test('P-43, P-46: who asks for nothing that others may have too claims no place of another one, where the cloud names places, and nothing else', () => {
    const loadBalancers = suite.cloud.loadBalancers!;
    expect(loadBalancers.sole?.(suite.input().spec) ?? []).toEqual([]);
    expect(loadBalancers.together?.(suite.input())?.addresses ?? []).toEqual([]);
    if (loadBalancers.places === undefined) return; // then it is spec.addresses
    const [one, other] = [suite.input(), suite.input()];
    expect(loadBalancers.places(one).filter((place) => loadBalancers.places!(other).includes(place))).toEqual([]);
    const { exclusive } = suite.under;
    if (exclusive !== undefined) expect(loadBalancers.places({ ...one, spec: exclusive.of(one.spec) })).toEqual(exclusive.names);
  });

  test('P-10: results say nothing of what the outputs do not hold', () => {
    for (const outputs of [{}, { uid: null }, { uid: {} }, { uid: 'x' }])
      expect(suite.cloud.loadBalancers!.results(outputs as never, 'uid')).toBeUndefined();
  });

  test('P-10: results give an address with ipMode, and one target group for each listener', async () => {
    const { input, outputs } = await suite.standing(2);
    const result = suite.cloud.loadBalancers!.results(outputs, input.uid);
    expect(result?.ingress.length).toBeGreaterThan(0);
    result?.ingress.forEach(({ ip, hostname, ipMode }) =>
      expect(hostname !== undefined || (ip !== undefined && ipMode !== undefined)).toBe(true),
    );
    const ports = input.spec.listeners.map(({ nodePort }) => nodePort);
    expect(result?.targetGroups.map(({ port }) => port).sort()).toEqual(ports.sort());
    expect(new Set(result?.targetGroups.map(({ id }) => id)).size).toBe(ports.length);
    expect(suite.cloud.loadBalancers!.results(outputs, 'another-uid')).toBeUndefined();
  });
}

function describeResources(suite: Suite): void {
  test('P-11: a lost answer to any create makes nothing twice', async () => {
    await suite.under.control.loseAnswers('create', 3);
    const { stack, runner } = await suite.standing(2);
    expect(ids(await suite.discovered(stack))).toEqual(ids(await suite.marked(stack, runner)));
  });

  test('P-11: a worker that died before it could tell is no reason for a second one, whatever was wanted then', async () => {
    const { input, stack, runner } = await suite.standing(2);
    const left = ids(runner.checkpoint());
    const inputs = suite.render(stack, { ...input, spec: suite.under.changes.inPlace(input.spec) });
    runner.restore([]);
    await runner.up(inputs);
    expect(ids(runner.checkpoint())).toEqual(left);
    expectSame(await suite.found(stack), runner.checkpoint());
  });

  test('P-12, R-50: what belongs to somebody else is neither adopted nor deleted', async () => {
    const { input, stack, runner } = await suite.standing();
    const resources = await suite.discovered(stack);
    for (const resource of resources) await suite.under.control.disown(resource);
    expect(await suite.discovered(stack)).toEqual([]);
    const another = suite.runner(stack);
    await expectError('Conflict', another.up(suite.render(stack, input)));
    expect(another.checkpoint()).toEqual([]);
    for (const { type: token, name, id, outputs } of resources) {
      const { type, context } = runner.resource(token, name);
      const before = await type.read(id, context);
      await expectError('Conflict', type.delete(id, context, outputs));
      expect(await type.read(id, context)).toEqual(before);
    }
    runner.restore([]);
  });

  test('P-32: what is released is neither discovered, adopted nor deleted any more', async () => {
    const { input, stack, runner } = await suite.standing();
    const resources = await suite.discovered(stack);
    await expectError(
      'Canceled',
      suite.cloud.release!(stack, () => false),
    );
    expect(await suite.discovered(stack)).toEqual(resources);
    await suite.cloud.release!(stack, () => true);
    expect(await suite.discovered(stack)).toEqual([]);
    expect(await suite.writes(() => suite.cloud.release!(stack, () => true))).toBe(0);
    await expectError('Conflict', suite.runner(stack).up(suite.render(stack, input)));
    for (const { type: token, name, id, outputs } of resources) {
      const { type, context } = runner.resource(token, name);
      await expectError('Conflict', type.delete(id, context, outputs));
      expect(await type.read(id, context)).toBeDefined();
    }
    runner.restore([]);
  });

  test('P-40: what nobody asks for is not looked for; what is not given up is Taken; what was released is taken over as it is', async () => {
    const { cloud } = suite;
    if (cloud.adoptable === undefined || cloud.release === undefined) return;
    const { input, stack, runner } = await suite.standing(2);
    await suite.under.control.resetCalls();
    expect(await cloud.adoptable(stack, input)).toBeUndefined();
    expect((await suite.under.control.calls()).calls).toEqual([]);
    expect(await cloud.adoptable(stack, input, 'Itself')).toBeUndefined();
    const [another, taken] = [suite.stack(), { ...input, name: `${input.name}-again` }];
    await expectError('Taken', cloud.adoptable(another, taken, 'Released'));

    const before = ids(await suite.discovered(stack));
    await cloud.release(stack, () => true);
    runner.restore([]);
    let adoption: Adoption | undefined;
    expect(await suite.writes(async () => (adoption = await cloud.adoptable!(another, taken, 'Released')))).toBe(0);
    expect(ids(adoption!.resources)).toEqual(before);
    const taker = suite.runner(another);
    taker.restore(adoption!.resources);
    const rendered = suite.render(another, { ...taken, ...(adoption!.kept !== undefined && { adopted: adoption!.kept }) });
    await taker.up(rendered);
    expect(ids(await suite.discovered(another))).toEqual(before);
    expect(await suite.discovered(stack)).toEqual([]);
    expect(await suite.writes(() => taker.up(rendered))).toBe(0);
    // What bears this stack's marks by now is not to be taken over again.
    for (const from of ['Released', 'Itself'] as const) expect((await cloud.adoptable(another, taken, from))?.resources ?? []).toEqual([]);
  });

  test('P-13: read gives the inputs that the program set, and undefined for what is gone', async () => {
    const { stack, runner } = await suite.standing(2);
    const resources = await suite.marked(stack, runner);
    for (const { type: token, name, id, inputs, outputs } of resources) {
      const { type, context } = runner.resource(token, name);
      expect(await type.read(id, context)).toEqual({ inputs, outputs });
    }
    await runner.destroy();
    for (const { type: token, name, id, outputs } of resources) {
      const { type, context } = runner.resource(token, name);
      expect(await type.read(id, context)).toBeUndefined();
      // P-15
      await type.delete(id, context, outputs);
    }
  });

  test('P-14: an update changes in place what can be, and a lost answer to it does no harm', async () => {
    const { input, stack, runner } = await suite.standing(2);
    const before = ids(runner.checkpoint());
    await suite.under.control.loseAnswers('update', 2);
    await runner.up(suite.render(stack, { ...input, spec: suite.under.changes.inPlace(input.spec) }));
    expect(ids(runner.checkpoint())).toEqual(before);
    expectSame(await suite.found(stack), runner.checkpoint());
  });

  test('P-14: an update brings back what somebody changed', async () => {
    const { stack, runner } = await suite.standing();
    for (const found of await suite.discovered(stack)) {
      await suite.under.control.tamper(found);
      const known = runner.checkpoint().find(({ id }) => id === found.id)!;
      const { type, context } = runner.resource(known.type, known.name);
      await type.update(known.id, known.outputs, known.inputs, context);
    }
    expectSame(await suite.found(stack), runner.checkpoint());
  });

  test('P-15: deletes survive lost answers and leave nothing', async () => {
    const { stack, runner } = await suite.standing(2);
    await suite.under.control.loseAnswers('delete', 3);
    await runner.destroy();
    expect(await suite.discovered(stack)).toEqual([]);
  });

  test('P-15: a listener that goes takes its target group along', async () => {
    const { input, stack, runner } = await suite.standing(3);
    const [first] = input.spec.listeners;
    await runner.up(suite.render(stack, { ...input, spec: { ...input.spec, listeners: [first!] } }));
    expectSame(await suite.found(stack), runner.checkpoint());
  });

  test('P-16: nothing is written once the update may not write any more', async () => {
    const { input, stack, runner } = await suite.standing();
    const [known] = runner.checkpoint();
    const { type, context } = runner.resource(known!.type, known!.name);
    const changed = suite.render(stack, { ...input, spec: suite.under.changes.inPlace(input.spec) });
    const fresh = suite.runner(suite.stack());
    suite.valid = false;
    const writes = await suite.writes(async () => {
      await expectError('Canceled', fresh.up(suite.render('other', suite.input())));
      await expectError('Canceled', runner.up(changed));
      await expectError('Canceled', runner.destroy());
      expect(await type.read(known!.id, context)).toBeDefined();
    });
    expect(writes).toBe(0);
  });

  test('P-17: every call to the cloud is counted', async () => {
    await suite.under.control.resetCalls();
    suite.counted = 0;
    const { runner } = await suite.standing(2);
    await runner.destroy();
    expect(suite.counted).toBe((await suite.under.control.calls()).calls.length);
  });

  test('P-48: an update becomes what its preview knew, whatever only the cloud can tell of it', async () => {
    const [input, stack] = [suite.input(2), suite.stack()];
    const runner = suite.runner(stack);
    const [first] = input.spec.listeners;
    const fewer = { ...input.spec, listeners: [first!] };
    const specs = [input.spec, fewer, suite.under.changes.inPlace(fewer), input.spec];
    for (const spec of specs) await runner.upAsPlanned(suite.render(stack, { ...input, spec }));
    expectSame(await suite.found(stack), runner.checkpoint());
  });

  test('P-18: a second update of an unchanged object does nothing', async () => {
    const { input, stack, runner } = await suite.standing(2);
    await suite.under.control.resetCalls();
    await runner.up(suite.render(stack, copyOf(input)));
    expect((await suite.under.control.calls()).calls).toEqual([]);
  });

  test('P-18: a replacement leaves one of each, also of what a dead worker left', async () => {
    const { changes } = suite.under;
    const { input, stack, runner } = await suite.standing(2);
    if (changes.replacing === undefined || suite.under.replacesByGeneration === true) return;
    const replaced = suite.render(stack, { ...input, spec: changes.replacing(input.spec) });
    const before = ids(runner.checkpoint());
    await runner.up(replaced);
    expect(ids(runner.checkpoint())).not.toEqual(before);
    expectSame(await suite.found(stack), runner.checkpoint());
    runner.restore([]);
    await runner.up(suite.render(stack, input));
    expectSame(await suite.found(stack), runner.checkpoint());
  });

  test('P-31: a new generation stands beside the old one, behind a barrier of its members, and goes on alone', async () => {
    const loadBalancers = suite.cloud.loadBalancers!;
    const { changes } = suite.under;
    if (changes.replacing === undefined || loadBalancers.replacement === undefined) return;
    const { input, stack, runner, outputs } = await suite.standing(2);
    const wanted = { ...input, spec: changes.replacing(input.spec), generation: 1 };
    expect(loadBalancers.replacement(input, input)).toBeUndefined();
    expect(loadBalancers.replacement(input, wanted)).toMatchObject({ gap: false });
    const before = loadBalancers.results(outputs, input.uid)!;
    const old = ids(await suite.marked(stack, runner));
    suite.synced = [];
    const both = suite.render(stack, { ...wanted, retiring: { input } });

    const hasMembers = suite.cloud.members !== undefined;
    if (hasMembers) {
      suite.syncFailure = new OperatorError('Conflict', 'no members today');
      await expectError('Conflict', runner.up(both));
      expect(ids(runner.checkpoint())).toEqual(expect.arrayContaining(old));
      suite.syncFailure = undefined;
    }
    const during = loadBalancers.results(await runner.up(both), input.uid)!;
    expect(ids(await suite.discovered(stack))).toEqual(expect.arrayContaining(old));
    expect(loadBalancers.recognize?.(await suite.discovered(stack), { ...input, spec: wanted.spec })?.generation ?? 1).toBe(1);
    expect(during.ingress).not.toEqual(before.ingress);
    const added = ids(during.targetGroups).filter((id) => !ids(before.targetGroups).includes(id));
    expect(ids(during.targetGroups)).toEqual([...new Set([...ids(before.targetGroups), ...added])].sort());
    expect(added).toHaveLength(2);
    if (hasMembers) expect(suite.synced.toSorted()).toEqual(added);

    const after = loadBalancers.results(await runner.up(suite.render(stack, wanted)), input.uid)!;
    expect(after.ingress).toEqual(during.ingress);
    expect(ids(after.targetGroups)).toEqual(added);
    const left = ids(await suite.discovered(stack)).filter((id) => old.includes(id));
    // What many share is there whichever of them goes.
    expect(left).toEqual(old.filter((id) => suite.under.isShared?.(id) === true));
  });
}

function describeDiscovery(suite: Suite): void {
  test('P-38: what discover found tells as much as the outputs', async () => {
    const loadBalancers = suite.cloud.loadBalancers!;
    if (loadBalancers.recognize === undefined) return; // a provider may not be able to tell
    const { input, stack, outputs } = await suite.standing(2);
    const inOrder = (result: LoadBalancerResult | undefined): LoadBalancerResult | undefined =>
      result && { ...result, targetGroups: result.targetGroups.toSorted((a, b) => a.port - b.port) };
    const told = inOrder(loadBalancers.recognize(await suite.discovered(stack), input));
    expect(told).toEqual({ generation: 0, ...inOrder(loadBalancers.results(outputs, input.uid)) });
    expect(loadBalancers.recognize(await suite.discovered(stack), suite.input())).toBeUndefined();
  });

  test('P-44: what only a replacement changes is told as the cloud has it', async () => {
    const loadBalancers = suite.cloud.loadBalancers!;
    if (loadBalancers.madeFrom === undefined) return; // a provider may not be able to tell
    const { changes } = suite.under;
    if (changes.replacing === undefined) return;
    const { input, stack } = await suite.standing(2);
    const found = await suite.discovered(stack);
    expect(loadBalancers.madeFrom(found, input)).toEqual(input.spec);
    const wanted = { ...input, spec: changes.replacing(input.spec) };
    const made = { ...wanted, spec: loadBalancers.madeFrom(found, wanted) };
    expect(loadBalancers.replacement?.(made, wanted)).toEqual(loadBalancers.replacement?.(input, wanted));
    expect(suite.render(stack, made)).toEqual(suite.render(stack, input));
  });

  test('P-19: discover finds exactly what the program set', async () => {
    const { stack, runner } = await suite.standing(3);
    expectSame(await suite.found(stack), runner.checkpoint());
  });

  test('P-19: the number of calls does not grow with the number of stacks', async () => {
    const calls = async (): Promise<number> => {
      await suite.under.control.resetCalls();
      await suite.cloud.discover!();
      return (await suite.under.control.calls()).calls.length;
    };
    const one = await suite.standing();
    const alone = await calls();
    const two = await suite.standing();
    const both = await calls();
    expect(both - alone).toBe(suite.under.discoveryCallsEach ?? 0);
    const all = await suite.cloud.discover!();
    // What bears no mark is given where stacks are named.
    for (const { stack, runner } of [one, two]) {
      const unmarked = (await suite.found(stack)).filter((found) => found.unmarked === true);
      expectSame([...(all.get(stack) ?? []), ...unmarked], runner.checkpoint());
    }
    const named = [...(await suite.cloud.discover!([one.stack, 'no-such-stack']))];
    const having = named.filter(([, found]) => found.some(({ unmarked }) => unmarked !== true));
    expect(having.map(([stack]) => stack)).toEqual([one.stack]);
  });

  test('P-19: another cluster finds nothing of it', async () => {
    await suite.standing();
    const other = await suite.connect(OTHER_CLUSTER);
    expect(await other.discover!()).toEqual(new Map());
    await other.close();
  });

  test('P-20: what changed and what is gone is seen; a failing listing is an error, never a short answer', async () => {
    const { stack, runner } = await suite.standing();
    const before = await suite.discovered(stack);
    await suite.under.control.tamper(before[0]!);
    const after = (await suite.discovered(stack)).find(({ id }) => id === before[0]!.id);
    expect(canonicalJson(after?.inputs)).not.toBe(canonicalJson(before[0]!.inputs));
    await suite.under.control.failLists();
    await expect(suite.cloud.discover!()).rejects.toBeInstanceOf(OperatorError);
    await expect(suite.cloud.instances!.list()).rejects.toBeInstanceOf(OperatorError);
    await suite.under.control.healthy();
    await runner.destroy();
    expect((await suite.cloud.discover!()).has(stack)).toBe(false);
  });
}

function describeMembers(suite: Suite): void {
  const always = () => true;

  test('P-21, P-22: the whole set goes in once, and again only when it differs', async () => {
    const { members } = suite.cloud;
    if (members === undefined) return; // then P-42 holds
    const { input, outputs } = await suite.standing();
    const [group] = suite.cloud.loadBalancers!.results(outputs, input.uid)!.targetGroups;
    const targets = await suite.under.makeInstances(3);
    expect(await suite.writes(() => members.sync(group!, targets, always))).toBe(1);
    expect(await suite.writes(() => members.sync(group!, targets, always))).toBe(0);
    expect(await suite.writes(() => members.sync(group!, targets.toReversed(), always))).toBe(0);
    const restarted = await suite.connect();
    expect(await suite.writes(() => restarted.members!.sync(group!, targets, always))).toBe(0);
    await restarted.close();
    expect(await suite.writes(() => members.sync(group!, targets.slice(1), always))).toBe(1);
    expect(await suite.writes(() => members.sync(group!, [], always))).toBe(1);
  });

  test('P-22: hashes tell sets apart and nothing else, before and after they are registered', async () => {
    const { members } = suite.cloud;
    if (members === undefined) return; // then P-42 holds
    const { input, outputs } = await suite.standing();
    const [group] = suite.cloud.loadBalancers!.results(outputs, input.uid)!.targetGroups;
    const targets = await suite.under.makeInstances(3);
    const hash = members.hash(group!, targets);
    expect(members.hash(group!, [...targets.toReversed(), targets[0]!])).toBe(hash);
    const others = [targets.slice(1), [], [targets[0]!]].map((set) => members.hash(group!, set));
    expect(new Set([hash, ...others, members.hash({ ...group!, port: group!.port + 1 }, targets)]).size).toBe(5);
    await members.sync(group!, targets, always);
    expect((await members.observe()).get(group!.id)).toBe(hash);
    await members.sync(group!, [], always);
    expect((await members.observe()).get(group!.id)).toBe(members.hash(group!, []));
  });

  test('P-23: nothing is written once the operator may not write any more', async () => {
    if (suite.cloud.members === undefined) return;
    const { input, outputs } = await suite.standing();
    const [group] = suite.cloud.loadBalancers!.results(outputs, input.uid)!.targetGroups;
    const targets = await suite.under.makeInstances(1);
    const writes = await suite.writes(() =>
      expectError(
        'Canceled',
        suite.cloud.members!.sync(group!, targets, () => false),
      ),
    );
    expect(writes).toBe(0);
  });

  test('P-24: Nodes of other clouds are left out, and said to be', async () => {
    const { members } = suite.cloud;
    if (members === undefined) return; // then P-42 holds
    const { input, outputs } = await suite.standing();
    const [group] = suite.cloud.loadBalancers!.results(outputs, input.uid)!.targetGroups;
    const targets = await suite.under.makeInstances(1);
    const foreign = ['', 'other:///zone/i-1', 'nonsense'].map((providerID, index) => ({
      nodeName: `foreign-${index}`,
      providerID,
      addresses: [],
    }));
    expect(members.hash(group!, [...targets, ...foreign])).toBe(members.hash(group!, targets));
    await members.sync(group!, [...foreign, ...targets], always);
    expect((await members.observe()).get(group!.id)).toBe(members.hash(group!, targets));
    expect(members.skipped!([...targets, ...foreign]).map(({ value }) => value)).toEqual(foreign.map(({ providerID }) => providerID));
  });

  test('P-25: targets that somebody changed are seen and put right, and a lost answer does no harm', async () => {
    const { members } = suite.cloud;
    if (members === undefined) return; // then P-42 holds
    const { input, outputs } = await suite.standing();
    const [group] = suite.cloud.loadBalancers!.results(outputs, input.uid)!.targetGroups;
    const targets = await suite.under.makeInstances(2);
    await members.sync(group!, targets, always);
    await suite.under.control.setTargets(group!.id, targets.slice(1), group!.port);
    expect(await suite.writes(() => members.sync(group!, targets, always))).toBe(1);
    await suite.under.control.setTargets(group!.id, targets.slice(1), group!.port);
    expect((await members.observe()).get(group!.id)).not.toBe(members.hash(group!, targets));
    expect(await suite.writes(() => members.sync(group!, targets, always))).toBe(1);
    expect((await members.observe()).get(group!.id)).toBe(members.hash(group!, targets));
  });
}

function describeInstances(suite: Suite): void {
  test('P-26: every machine of the cluster is listed with what a Node needs, and none of another cluster', async () => {
    const ours = await suite.under.makeInstances(2);
    const theirs = await suite.under.makeInstances(1, OTHER_CLUSTER);
    // What never changes, such as the zones of a region, may be asked for once.
    await suite.cloud.instances!.list();
    await suite.under.control.resetCalls();
    const listed = await suite.cloud.instances!.list();
    expect((await suite.under.control.calls()).calls).toHaveLength(suite.under.instanceLists ?? 1);
    for (const { providerID, nodeName } of ours) {
      const found = listed.find((instance) => instance.providerID === providerID);
      expect(found).toMatchObject({ state: 'Running' });
      expect(found?.names).toContain(nodeName);
      expect(providerID.startsWith(`${suite.under.module.providerIDScheme}://`)).toBe(true);
      expect(found?.addresses.some(({ type }) => type === 'InternalIP')).toBe(true);
      for (const fact of [found?.zone, found?.region, found?.type, found?.id]) expect(fact).toBeTruthy();
    }
    expect(listed.map(({ providerID }) => providerID)).not.toContain(theirs[0]!.providerID);
  });
}

function describeRoutes(suite: Suite): void {
  const inputOf = (spec: CloudRouteSpec, number: number): RouteInput => ({ name: `route-${number}`, uid: `uid-${number}`, spec });

  test('P-27, P-28, P-48: a route keeps its shard and its place when the next hop changes; discover finds what was set', async () => {
    const { under } = suite;
    const { routes } = suite.cloud;
    if (under.route === undefined || routes === undefined) return;
    const route = (destinationCIDR: string, target: Target): CloudRouteSpec => under.route!(destinationCIDR, target);
    const [one, two] = await under.makeInstances(2);
    const first = inputOf(route('10.244.1.0/24', one!), 1);
    const moved = inputOf(route('10.244.1.0/24', two!), 2);
    expect(routes.validate(first.spec)).toEqual([]);
    const stack = routes.shard(first, () => 0);
    expect(routes.shard(copyOf(first), () => 0)).toBe(stack);
    const runner = suite.runner(stack);
    await runner.upAsPlanned(routes.render(stack, [first]));
    const before = ids(runner.checkpoint());
    await runner.upAsPlanned(routes.render(stack, [moved]));
    expect(ids(runner.checkpoint())).toEqual(before);
    expectSame(await suite.found(stack), runner.checkpoint());
    const both = [moved, inputOf(route('10.244.2.0/24', one!), 3)];
    expect(canonicalJson(routes.render(stack, both))).toBe(canonicalJson(routes.render(stack, both.toReversed())));
    await runner.upAsPlanned(routes.render(stack, both));
    expectSame(await suite.found(stack), runner.checkpoint());
    await suite.under.control.resetCalls();
    await runner.up(routes.render(stack, both));
    expect((await suite.under.control.calls()).calls).toEqual([]);
  });
}

/** Not structuredClone: its arrays are of another realm under jest, and the Pulumi SDK takes those for objects. */
function copyOf<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

function ids(resources: { id: string }[]): string[] {
  return resources.map(({ id }) => id).sort();
}

/** Barriers stand for nothing in the cloud. */
function inCloud(resources: RunnerResource[]): RunnerResource[] {
  return resources.filter(({ type }) => !isStateOnly(type));
}

/** Of what a state has in the cloud: what bears marks there, and what is only a part of something that was found without. */
function divided(found: DiscoveredResource[], all: RunnerResource[]): { marked: RunnerResource[]; parts: RunnerResource[] } {
  const keyOf = ({ type, id }: { type: string; id: string }): string => `${type} ${id}`;
  const unmarked = new Set(found.filter((one) => one.unmarked === true).map(keyOf));
  const checkpoint = inCloud(all);
  return {
    marked: checkpoint.filter((one) => !unmarked.has(keyOf(one))),
    parts: checkpoint.filter((one) => unmarked.has(keyOf(one))),
  };
}

/** Same resources with the same inputs and outputs, in any order; a part is without drift. */
function expectSame(found: DiscoveredResource[], all: RunnerResource[]): void {
  const { marked, parts } = divided(found, all);
  const sorted = (resources: (DiscoveredResource | RunnerResource)[]) =>
    resources.map(({ type, name, id, inputs, outputs }) => ({ type, name, id, inputs, outputs })).sort((a, b) => (a.id < b.id ? -1 : 1));
  expect(sorted(found.filter(({ unmarked }) => unmarked !== true))).toEqual(sorted(marked));
  expect(marked.length).toBeGreaterThan(0);
  const stack = { project: 'project', name: 'stack' };
  const stored = parts.map(({ name, ...one }) => ({ ...one, urn: urnOf(stack.project, stack.name, one.type, name), custom: true }));
  const unmarked = found.filter((one) => one.unmarked === true);
  expect(driftOf(match(stored, unmarked, stack))).toEqual([]);
}

async function expectError(code: OperatorError['code'], failing: Promise<unknown>): Promise<void> {
  const error = await failing.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject({ code });
}
