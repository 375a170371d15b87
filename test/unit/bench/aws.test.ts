import { differencesOf, explanationsIn, isExplained } from '../../bench/aws/differences';
import { HELP, optionsOf } from '../../bench/aws/options';
import { formOf } from '../../bench/aws/snapshot';
import { Traffic } from '../../bench/aws/traffic';
import { parseCall } from '../../harness/aws-model/call';

describe('the benchmark beside cloud-provider-aws', () => {
  test('runs everything where nothing is said, and create before what needs it', () => {
    expect(optionsOf([])).toMatchObject({ services: 50, nodes: 5, contestants: ['upstream', 'ours'] });
    const asked = optionsOf(['--phase', 'delete', '--variant', 'latency', '--only', 'ours', '--services', '3']);
    expect(asked).toMatchObject({ services: 3, phases: ['create', 'delete'], contestants: ['ours'] });
    expect(asked?.variants.map(({ name }) => name)).toEqual(['latency']);
    expect(optionsOf(['--help'])).toBeUndefined();
    expect(HELP).toContain('no-node-rules');
  });

  test.each([
    [['--services', '0'], /--services must be a whole number from 1 to 9999, not "0"/],
    [['--phase', 'sleep'], /--phase must be one of create, restart, .*, not "sleep"/],
    [['--only', 'theirs'], /--only must be one of upstream, ours, not "theirs"/],
    [['--what'], /Unknown option '--what'/],
  ])('refuses %s in one line', (args, message) => {
    expect(() => optionsOf(args)).toThrow(message);
  });

  test('names are compared by their form', () => {
    expect(formOf('a0000000100004000800022222222222')).toBe('a<uid>');
    expect(formOf('k8s-default-bench1-0123456789')).toBe('k8s-<namespace>-<name>-<hash>');
    expect(formOf('default/bench-17')).toBe('default/bench-<n>');
    expect(formOf('lb-default-bench-17-0123456789')).toBe('lb-default-bench-<n>-<hash>');
    expect(formOf('internet-facing')).toBe('internet-facing');
  });

  test('a difference is a field with other values; a page explains it by its path, in which a star stands for any text, and by the values that it names', () => {
    const [upstream, ours] = [new Set(['lb.scheme\tinternal', 'lb.name\ta']), new Set(['lb.scheme\tinternal', 'lb.tags.x/y\t1'])];
    const differences = differencesOf(upstream, ours);
    expect(differences).toEqual([
      { path: 'lb.name', upstream: 'a', ours: 'nothing' },
      { path: 'lb.tags.x/y', upstream: 'nothing', ours: '1' },
    ]);
    const explained = explanationsIn(
      '| field | theirs | ours | why |\n| --- | --- | --- | --- |\n| `*.tags.x/*` | `nothing` | a mark of `ours` | it is |\n',
    );
    expect(explained).toEqual([{ path: '*.tags.x/*', upstream: 'nothing' }]);
    expect(differences.map((one) => isExplained(one, explained))).toEqual([false, true]);
    expect(isExplained({ path: 'lb.tags.x/y', upstream: '2', ours: '1' }, explained)).toBe(false);
    expect(explanationsIn()).toContainEqual({ path: 'loadBalancer.Scheme', upstream: 'nothing', ours: 'internet-facing' });
    const other = { path: 'loadBalancer.Scheme', upstream: 'nothing', ours: 'internal' };
    expect(isExplained(other, explanationsIn())).toBe(false);
  });

  test('what stands in the account is known by the answers that went by', () => {
    const traffic = new Traffic();
    const send = (parameters: string, body = '', status = 200): unknown =>
      traffic.after(parseCall(`Version=2015-12-01&${parameters}`), { status, body });
    send('Action=CreateTargetGroup', '<TargetGroupArn>arn:1</TargetGroupArn>');
    send('Action=RegisterTargets&TargetGroupArn=arn:1&Targets.member.1.Id=i-1&Targets.member.2.Id=i-2');
    send('Action=RegisterTargets&TargetGroupArn=arn:1&Targets.member.1.Id=i-3', '', 400);
    expect([traffic.right(['i-1', 'i-2']), traffic.right(['i-3']), traffic.right(['i-1'], ['i-2'])]).toEqual([1, 0, 0]);
    send('Action=DeregisterTargets&TargetGroupArn=arn:1&Targets.member.1.Id=i-2');
    expect(traffic.right(['i-1'], ['i-2'])).toBe(1);
    send('Action=DeleteTargetGroup&TargetGroupArn=arn:1');
    expect(traffic.targets.size).toBe(0);
  });
});
