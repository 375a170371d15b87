import { toolNamed } from '../../../tools/catalogue';
import { checksumIn } from '../../../tools/download';
import { inWords, startHeartbeat } from '../../../tools/heartbeat';
import { versionIn, versionProblem } from '../../../tools/version';

describe('versionIn', () => {
  it.each([
    ['etcd Version: 3.6.6\nGit SHA: abc\nGo Version: go1.26.8', 'v3.6.6'],
    ['Kubernetes v1.35.4', 'v1.35.4'],
    ['Client Version: v1.32.4-dispatcher\nKustomize Version: v5.5.0', 'v1.32.4'],
    ['v3.274.1\n', 'v3.274.1'],
    ['no version here', undefined],
    ['app version 2.59', 'v2.59'],
    ['7', undefined],
  ])('of %j is %s', (output, version) => {
    expect(versionIn(output)).toBe(version);
  });
});

describe('versionProblem', () => {
  it.each([
    ['kube-apiserver', 'v1.35.0'],
    ['kube-apiserver', 'v1.36.2'],
    ['etcd', 'v3.6.0'],
    ['pulumi', 'v3.300.0'],
    ['kubectl', 'v1.20.0'],
  ])('has none with %s %s', (name, version) => {
    expect(versionProblem(toolNamed(name), version)).toBeUndefined();
  });

  it.each([
    ['kube-apiserver', 'v1.34.9'],
    ['kube-apiserver', 'v2.0.0'],
    ['kube-apiserver', 'v0.0.0'],
    ['etcd', 'v3.5.21'],
    ['pulumi', 'v3.9.0'],
    ['pulumi', 'v4.0.0'],
  ])('names version and minimum for %s %s', (name, version) => {
    const tool = toolNamed(name);
    expect(versionProblem(tool, version)).toContain(version);
    expect(versionProblem(tool, version)).toContain(tool.minimum);
  });
});

describe('checksumIn', () => {
  const sum = 'a'.repeat(64);
  it.each([
    ['the sum alone', `${sum}\n`, sum],
    ['lines with names', `${'b'.repeat(64)}  other.tar.gz\n${sum}  file.tar.gz\n`, sum],
    ['a binary-mode line', `${sum} *file.tar.gz\n`, sum],
    ['capital letters', sum.toUpperCase(), sum],
    ['another file only', `${sum}  other.tar.gz\n`, undefined],
    ['an error page', '<html>not found</html>', undefined],
    ['a short sum', 'abc123', undefined],
    ['nothing', '', undefined],
  ])('reads %s', (_, text, expected) => {
    expect(checksumIn(text, 'file.tar.gz')).toBe(expected);
  });
});

describe('startHeartbeat', () => {
  it('reports the elapsed time every 15 s until it is stopped', () => {
    let now = 0;
    let due: (() => void) | undefined;
    const clock = {
      now: () => now,
      monotonic: () => now,
      after: (_: number, run: () => void) => {
        due = run;
        return () => (due = undefined);
      },
    };
    const lines: string[] = [];
    const stop = startHeartbeat(
      (line) => lines.push(line),
      (elapsed) => `building, ${elapsed}`,
      clock,
    );
    for (now of [15_000, 30_000, 75_000]) due?.();
    stop();
    expect(due).toBeUndefined();
    expect(lines).toEqual(['building, 15 s', 'building, 30 s', 'building, 1 min 15 s']);
  });

  it('writes hours as minutes', () => {
    expect(inWords(3_605_000)).toBe('60 min 05 s');
  });
});
