import { describeThrown } from '../../../operator/updates/worker/extension/thrown';

const ENTRY = '/etc/extension/dns/index.ts';

function errorWith(name: string, message: string, stack: string): Error {
  return Object.assign(new Error(message), { name, stack });
}

test('names the error and the frames of the extension and of packages, paths shortened', () => {
  const stack = `TypeError: no
    at zoneOf (/etc/extension/dns/lib/zone.ts:3:7)
    at new Bucket (/srv/app/node_modules/@pulumi/aws/s3/bucket.js:10:5)
    at extra (file:///etc/extension/dns/index.ts:12:3)
    at Script.runInThisContext (node:vm:137:12)
    at within (/srv/app/lib/operator/updates/worker/extension/time-limit.js:9:1)`;
  expect(describeThrown(errorWith('TypeError', 'no', stack), ENTRY)).toBe(
    'TypeError: no\n    at zoneOf (lib/zone.ts:3:7)\n    at new Bucket (@pulumi/aws/s3/bucket.js:10:5)\n    at extra (index.ts:12:3)',
  );
});

test('finds the place of a syntax error', () => {
  const stack = `file:///etc/extension/dns/index.ts:5\nconst = 3;\n      ^\n\nSyntaxError: Unexpected token '='\n    at compile (node:internal/modules:1:1)`;
  expect(describeThrown(errorWith('SyntaxError', "Unexpected token '='", stack), ENTRY)).toBe(
    "SyntaxError: Unexpected token '='\n    at index.ts:5",
  );
});

test('keeps within bounds', () => {
  const frames = Array.from({ length: 50 }, (_, line) => `    at f (/etc/extension/dns/index.ts:${line}:1)`);
  const told = describeThrown(errorWith('Error', 'x'.repeat(5_000), `Error: x\n${frames.join('\n')}`), ENTRY);
  expect(told.split('\n')).toHaveLength(7);
  expect(told.length).toBeLessThan(1_000);
});

test.each([
  ['a text', 'it threw "a text", which is no Error'],
  [undefined, 'it threw undefined, which is no Error'],
  [42, 'it threw 42, which is no Error'],
])('says so when %p is no error', (thrown, told) => {
  expect(describeThrown(thrown, ENTRY)).toBe(told);
});
