import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../../operator/entry';
import { textsOfTests } from '../harness/test-titles';

/** Cases of upstream's own tests, by area: C-SVC-01 to C-SVC-52, and so on. Each is the name of a test here, so that none can vanish. */
const CONTRACT = { SVC: 52, NODE: 24, LIFE: 16, ROUTE: 17, IPAM: 22, APP: 10 };
/** Cases that people have met with such systems, R-02 to R-52; some of their tests stop and kill, and so are in the suite for that. */
const FIELD = Array.from({ length: 26 }, (_, index) => `R-${String(2 * index + 2).padStart(2, '0')}`);

const IDS = Object.entries(CONTRACT).flatMap(([area, count]) =>
  Array.from({ length: count }, (_, index) => `C-${area}-${String(index + 1).padStart(2, '0')}`),
);

const { testPathIgnorePatterns } = JSON.parse(readFileSync(join(PROJECT_ROOT, 'jest.config.json'), 'utf8')) as {
  testPathIgnorePatterns: string[];
};

/** Files of tests of ours that name a case, with the texts of those tests. */
function testsWithCases(): { path: string; texts: string[] }[] {
  const folder = join(PROJECT_ROOT, 'test');
  return readdirSync(folder, { recursive: true })
    .map((name) => `test/${String(name)}`)
    .filter((path) => /\.test\.ts$|provider-conformance\.ts$/.test(path) && path !== 'test/unit/cases.test.ts')
    .map((path) => ({ path, source: readFileSync(join(PROJECT_ROOT, path), 'utf8') }))
    .filter(({ source }) => /\b(C-[A-Z]+|R)-\d{2}\b/.test(source))
    .map(({ path, source }) => ({ path, texts: textsOfTests(path, source) }));
}

describe('the cases', () => {
  const files = testsWithCases();
  const named = (texts: readonly string[]): Set<string> => new Set(texts.flatMap((text) => text.match(/\b(?:C-[A-Z]+|R)-\d{2}\b/g) ?? []));

  it('of the contract are all in npm test, each by its id', () => {
    const inNpmTest = files.filter(({ path }) => !testPathIgnorePatterns.some((pattern) => new RegExp(pattern).test(path)));
    const found = named(inNpmTest.flatMap(({ texts }) => texts));
    expect(IDS.filter((id) => !found.has(id))).toEqual([]);
    expect([...found].filter((id) => id.startsWith('C-') && !IDS.includes(id))).toEqual([]);
  });

  it('from the field are all tests', () => {
    const found = named(files.flatMap(({ texts }) => texts));
    expect(FIELD.filter((id) => !found.has(id))).toEqual([]);
  });
});

describe('a case counts where its test runs', () => {
  test.each<[string, string, string[]]>([
    ['a title', `test('C-1', () => {});`, ['C-1']],
    ['a title made of parts', 'it(`C-1 ${x} C-2`, () => {});', ['C-1 ', ' C-2']],
    ['a table', `describe('d', () => { test.each([['C-1', 2]])('%s', () => {}); });`, ['d', '%s', 'C-1']],
    ['a table with a name', `const T: X[] = [['C-1']]; const OTHER = ['C-2']; test.each(T)('%s', () => {});`, ['%s', 'C-1']],
    ['skipped', `test.skip('C-1', () => {}); test.todo('C-2'); describe.skip('d', () => { test('C-3', () => {}); });`, []],
    ['a skipped table', `test.skip.each(['C-1'])('%s', () => {}); it.each(['C-2']).skip('%s', () => {});`, []],
    ['depends', `if (x) test('C-1', () => {}); x ? test('C-2', () => {}) : undefined;`, []],
    ['only said', `// test('C-1')\nconst text = 'C-2'; test('t', () => { expect('C-3').toBe(1); });`, ['t']],
  ])('%s', (_what, source, texts) => {
    expect(textsOfTests('x.ts', source)).toEqual(texts);
  });

  test('and where it is not kept from running by another one', () => {
    expect(() => textsOfTests('x.ts', `test.only('t', () => {});`)).toThrow('x.ts: a test with .only');
  });
});
