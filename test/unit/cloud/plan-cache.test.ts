import { PlanCache, PLANS_KEPT } from '../../../operator/cloud/plan/plan-cache';
import type { Plan } from '../../../operator/updates/plan';
import type { StackState } from '../../../operator/updates/update';

const state = { incarnation: 'i', revision: 1, open: false } as StackState;
let cache: PlanCache;
/** Inputs of the plans that had to be made. */
let made: string[];

beforeEach(() => {
  cache = new PlanCache();
  made = [];
});

async function ask(inputs: string, of: StackState | undefined = state): Promise<void> {
  const make = (): Promise<Plan> => {
    made.push(inputs);
    return Promise.resolve({ hash: inputs, counts: {}, operations: [] } as unknown as Plan);
  };
  expect((await cache.plan('s', of, inputs, make)).hash).toBe(inputs);
}

test('a plan is made once for a state', async () => {
  for (const inputs of ['a', 'b', 'a', 'b']) await ask(inputs);
  expect(made).toEqual(['a', 'b']);
  await ask('a', { ...state, revision: 2 });
  expect(made).toEqual(['a', 'b', 'a']);
});

test('of a stack that is open none is kept', async () => {
  for (let times = 0; times < 2; times++) await ask('a', { ...state, open: true });
  expect(made).toEqual(['a', 'a']);
});

test('as many as a stack has members are kept, and then those for which nobody has asked for longest go', async () => {
  for (let edit = 0; edit < PLANS_KEPT; edit++) await ask(`edit ${edit}`);
  await ask('edit 0');
  expect(made).toHaveLength(PLANS_KEPT);
  await ask('one more');
  made = [];
  for (const inputs of ['edit 0', 'edit 2', 'edit 1']) await ask(inputs);
  expect(made).toEqual(['edit 1']);
});
