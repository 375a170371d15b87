import type { PlannedOperation } from '../../../crds';
import { cloudLoadBalancerSpec } from '../../../crds/cloud-load-balancer';
import { LoadBalancerStacks } from '../../../operator/cloud/stack/load-balancer-stacks';
import { nextOf } from '../../../operator/cloud/stack/next-input';
import { leftBehind, type GenerationalInput } from '../../../operator/cloud/plan/generation';
import { isPromised, keepsPromise, kept, planOfMove, promising } from '../../../operator/cloud/plan/promise';
import type { ConnectedCloud } from '../../../operator/cloud/providers/registry';
import type { Member, StackKind } from '../../../operator/cloud/stack/stack-kind';
import type { UpdatePlan } from '../../../operator/cloud/stack/stack-parts';
import type { Origin } from '../../../operator/cloud/stack/stack-moves';
import { summaryOf, type Plan } from '../../../operator/updates/plan';
import type { LoadBalancerInput } from '../../../providers/provider';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const AT = '2026-01-01T00:00:00.000Z';
const moving: GenerationalInput = { uid: 'u', name: 'web', namespace: 'shop', generation: 1, movedFrom: { stack: 'old' } };
const promised: GenerationalInput = { ...moving, movedFrom: { stack: 'old', until: AT }, promised: true };

function planOf(candidate: GenerationalInput, gap: boolean, accepted?: GenerationalInput, renamed?: true): UpdatePlan<string> {
  const none = { leaving: [], released: [], missing: [], elsewhere: [], departing: [] };
  return {
    kind: 'Update',
    engine: true,
    conflicts: false,
    ...none,
    parts: [{ object: 'o', candidate, replacement: { why: 'it moves', gap, ...(renamed && { renamed }) }, ...(accepted && { accepted }) }],
  };
}

describe('the first step of a move that deletes first', () => {
  test('accepts it as promised, has the old stack give it up at once, and says so', () => {
    const [part] = promising(planOf(moving, true), NOW).parts;
    expect(part?.candidate).toEqual(promised);
    expect(part?.verdict).toMatchObject({ state: 'Reconciling', reason: 'Replacing' });
    expect(part?.verdict?.message).toContain('stack old deletes it first, then it is made here; traffic has a gap until then');
    expect(leftBehind(part?.candidate)).toBe('old');
  });

  test.each<[string, UpdatePlan<string>]>([
    ['a move without a gap', planOf(moving, false)],
    ['a replacement within the stack', planOf({ uid: 'u', name: 'web' }, true)],
    ['a replacement within the stack, of what has moved before', planOf({ ...moving, movedFrom: { stack: 'old', until: AT } }, true)],
    ['a replacement within the stack, of what clients were not sent to yet after its move', planOf(moving, true, moving)],
    ['a move that was promised already', planOf(promised, true)],
    ['one under other names, of what has moved before', planOf({ ...moving, generation: 2 }, true, moving, true)],
  ])('is not for %s', (_what, plan) => {
    expect(promising(plan, NOW)).toBe(plan);
  });
});

describe('the plan of such a move', () => {
  const counts = { create: 0, update: 0, replace: 0, delete: 0, same: 0 };
  const operation = (op: 'create' | 'delete', name: string): PlannedOperation => ({
    op,
    type: 'local:index:Address',
    name,
    urn: `urn::${name}`,
  });
  const made: Plan = { hash: 'made', counts: { ...counts, create: 2, same: 1 }, operations: [operation('create', 'new')] };
  const lost: Plan = { hash: 'lost', counts: { ...counts, delete: 1, same: 3 }, operations: [operation('delete', 'old')] };

  test('shows what the old stack gives up, first, and then what the new one makes', () => {
    const plan = planOfMove(made, { stack: 'lb-old', plan: lost });
    expect(plan.operations).toEqual([{ ...operation('delete', 'old'), stack: 'lb-old' }, operation('create', 'new')]);
    expect(plan.counts).toEqual({ create: 2, update: 0, replace: 0, delete: 1, same: 4 });
    expect(summaryOf(plan)).toBe(
      '2 to create, 0 to update, 0 to replace, 1 to delete, 4 unchanged; stack lb-old gives up first: Address old',
    );
  });

  test('is another one when either half is', () => {
    const hashOf = (one: Plan, other: Plan): string => planOfMove(one, { stack: 'lb-old', plan: other }).hash;
    const hashes = [hashOf(made, lost), hashOf({ ...made, hash: 'x' }, lost), hashOf(made, { ...lost, hash: 'x' })];
    expect(new Set(hashes).size).toBe(3);
    expect(hashOf(made, lost)).toBe(hashes[0]);
  });
});

test('what was promised is kept: that, and nothing else', () => {
  const equal = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
  expect([isPromised(promised), isPromised(kept(promised)), isPromised(undefined)]).toEqual([true, false, false]);
  expect(keepsPromise(promised, kept(promised), equal)).toBe(true);
  expect(keepsPromise(promised, { ...kept(promised), name: 'other' }, equal)).toBe(false);
  expect(keepsPromise(kept(promised), kept(promised), equal)).toBe(false);
  expect(leftBehind(kept(promised))).toBeUndefined();
});

describe('what is rendered next of a promise', () => {
  const cloud = {} as ConnectedCloud;
  const origin: Origin = { stack: 'old', input: { uid: 'u', name: 'web' }, others: [], state: undefined, knowledge: {} };
  const next = (has: Origin | undefined, approval: 'Auto' | 'Manual', port: number) => {
    const kind = {
      inputOf: () => ({ uid: 'u', name: 'web', namespace: 'shop', port }),
      updatePolicy: () => ({ approval, replace: 'Never' }),
    };
    return nextOf(kind as unknown as StackKind<Member>, {} as Member, cloud, {
      accepted: { ...promised, port: 80 } as never,
      origin: has,
      left: (until) => Math.max(0, Date.parse(until) - NOW),
    });
  };
  const marks = { generation: 1, movedFrom: { stack: 'old', until: AT } };
  const made = (port: number): object => ({ uid: 'u', name: 'web', namespace: 'shop', port, ...marks });

  test('nothing, while the old stack has it', () => {
    expect(next(origin, 'Auto', 81)).toMatchObject({ input: promised, obstacle: { reason: 'Replacing' } });
  });
  test('then what the spec says by now', () => {
    expect(next(undefined, 'Auto', 81)).toEqual({ input: made(81) });
  });
  test('or, where a person has to approve, what was approved', () => {
    expect(next(undefined, 'Manual', 81)).toEqual({ input: made(80) });
  });
});

describe('a move of a load balancer', () => {
  const spec = (addresses: string[], placement?: string): LoadBalancerInput['spec'] =>
    cloudLoadBalancerSpec.parse({
      ...{ provider: 'p', listeners: [{ name: 'a', port: 80, nodePort: 30080 }], addresses, local: {} },
      ...(placement === undefined ? {} : { placement: { name: placement } }),
    });
  const input = (name: string, of: LoadBalancerInput['spec']): LoadBalancerInput => ({
    uid: name,
    name,
    namespace: 'default',
    ownerUID: name,
    spec: of,
  });
  const cloud = { name: 'p', cloud: { loadBalancers: {} } } as unknown as ConnectedCloud;
  const stacks = new LoadBalancerStacks({ targets: () => [] } as never, {} as never, {} as never, 'c');
  const move = (had: string[], asked: string[], others: LoadBalancerInput[] = []) =>
    stacks.move({ input: input('web', spec(had)), others, cloud }, input('web', spec(asked, 'front')), cloud);

  test.each<[string, string[], string[], boolean]>([
    ['without addresses', [], [], false],
    ['with another address', ['10.0.0.7'], ['10.0.0.8'], false],
    ['with the same address', ['10.0.0.7'], ['10.0.0.7'], true],
  ])('%s: gap %s', (_what, had, asked, gap) => {
    expect(move(had, asked)).toMatchObject({ gap });
    expect(move(had, asked).obstacle).toBeUndefined();
  });

  test('says why there is a gap', () => {
    expect(move(['10.0.0.7'], ['10.0.0.7']).why).toBe(
      "the change of spec.placement from none to default/front moves it to another load balancer, delete first, with a gap in traffic, because 10.0.0.7 can't be on both",
    );
  });

  test('is refused where another one keeps the address', () => {
    const { obstacle } = move(['10.0.0.7'], ['10.0.0.7'], [input('api', spec(['10.0.0.7']))]);
    expect(obstacle).toMatchObject({ state: 'Stalled', reason: 'Invalid' });
    expect(obstacle?.message).toContain('10.0.0.7 stays with default/api, which has it too; ask for another address');
  });
});
