import { parseFlags } from '../../../operator/flags/parse';
import { FLAGS, type FlagValues } from '../../../operator/flags/table';

function valuesOf(args: string[]): FlagValues {
  return parseFlags(FLAGS, args).values as FlagValues;
}

function problemOf(arg: string): string | undefined {
  try {
    parseFlags(FLAGS, [arg]);
    return undefined;
  } catch (thrown) {
    return (thrown as Error).message;
  }
}

describe('what pflag accepts', () => {
  test.each<[string, string[], keyof FlagValues, unknown]>([
    ['a value behind =', ['--cluster-name=a=b'], 'cluster-name', 'a=b'],
    ['a value behind a space', ['--cluster-name', 'a'], 'cluster-name', 'a'],
    ['a value that looks like a flag', ['--cluster-name', '--leader-elect'], 'cluster-name', '--leader-elect'],
    ['an empty value', ['--cluster-name='], 'cluster-name', ''],
    ['a bare boolean', ['--allocate-node-cidrs'], 'allocate-node-cidrs', true],
    ['a boolean, Go’s way', ['--leader-elect=F'], 'leader-elect', false],
    ['underscores in the name', ['--leader_elect=false'], 'leader-elect', false],
    ['a short flag with a space', ['-v', '4'], 'v', 4],
    ['a short flag with =', ['-v=4'], 'v', 4],
    ['a short flag with nothing between', ['-v4'], 'v', 4],
    ['the last of several', ['--secure-port=1', '--secure-port=2'], 'secure-port', 2],
    ['a number in hexadecimal', ['--secure-port=0x10'], 'secure-port', 16],
    ['a number in octal', ['--secure-port=010'], 'secure-port', 8],
    ['a number with underscores', ['--secure-port=10_258'], 'secure-port', 10258],
    ['a fraction', ['--kube-api-qps=0.5'], 'kube-api-qps', 0.5],
    ['a duration of several parts', ['--min-resync-period=1h2m3.5s'], 'min-resync-period', 3_723_500],
    ['the duration 0', ['--min-resync-period=0'], 'min-resync-period', 0],
    ['a negative duration', ['--min-resync-period=-1ms'], 'min-resync-period', -1],
    ['a list', ['--controllers=a,b'], 'controllers', ['a', 'b']],
    ['a list that grows', ['--controllers=a', '--controllers=b,c'], 'controllers', ['a', 'b', 'c']],
    ['a quoted comma in a list', ['--requestheader-allowed-names="a,b",c'], 'requestheader-allowed-names', ['a,b', 'c']],
    ['C-APP-06: an empty list', ['--authorization-always-allow-paths='], 'authorization-always-allow-paths', []],
    ['no list: its default', [], 'authorization-always-allow-paths', ['/healthz', '/readyz', '/livez']],
    ['IPv6', ['--bind-address=::1'], 'bind-address', '::1'],
    ['gates', ['--feature-gates=A=true,B=false', '--feature-gates=C=1'], 'feature-gates', ['A=true', 'B=false', 'C=1']],
    ['--version', ['--version'], 'version', 'print'],
    ['--version=raw', ['--version=raw'], 'version', 'raw'],
    ['--version=v1.2.3', ['--version=v1.2.3'], 'version', { reported: 'v1.2.3' }],
    [
      'pairs of certificates',
      ['--tls-sni-cert-key=a.crt,a.key', '--tls-sni-cert-key=b.crt,b.key:*.b.example,b'],
      'tls-sni-cert-key',
      [
        { certFile: 'a.crt', keyFile: 'a.key', names: [] },
        { certFile: 'b.crt', keyFile: 'b.key', names: ['*.b.example', 'b'] },
      ],
    ],
  ])('%s', (_what, args, name, value) => {
    expect(valuesOf(args)[name]).toEqual(value);
  });

  test('what is no flag, also behind --', () => {
    expect(parseFlags(FLAGS, ['a', '--leader-elect', 'b', '--', '-c']).positional).toEqual(['a', 'b', '-c']);
  });

  test('which flags were given', () => {
    expect([...parseFlags(FLAGS, ['--v=0', '--leader_elect']).given]).toEqual(['v', 'leader-elect']);
  });
});

// The right side is what kube-controller-manager 1.35 prints for the same flags.
describe('what pflag refuses, in its words', () => {
  test.each<[string, string]>([
    ['--nope', 'unknown flag: --nope'],
    ['--no_pe=1', 'unknown flag: --no_pe'],
    ['-x', "unknown shorthand flag: 'x' in -x"],
    ['-leader-elect=false', "unknown shorthand flag: 'l' in -leader-elect=false"],
    ['--=a', 'bad flag syntax: --=a'],
    ['---a', 'bad flag syntax: ---a'],
    ['--leader-elect-lease-duration', 'flag needs an argument: --leader-elect-lease-duration'],
    ['-v', "flag needs an argument: 'v' in -v"],
    ['--leader-elect=maybe', 'invalid argument "maybe" for "--leader-elect" flag: strconv.ParseBool: parsing "maybe": invalid syntax'],
    ['--leader-elect=', 'invalid argument "" for "--leader-elect" flag: strconv.ParseBool: parsing "": invalid syntax'],
    [
      '--concurrent-service-syncs=abc',
      'invalid argument "abc" for "--concurrent-service-syncs" flag: strconv.ParseInt: parsing "abc": invalid syntax',
    ],
    [
      '--concurrent-service-syncs=99999999999',
      'invalid argument "99999999999" for "--concurrent-service-syncs" flag: strconv.ParseInt: parsing "99999999999": value out of range',
    ],
    ['--kube-api-qps=z', 'invalid argument "z" for "--kube-api-qps" flag: strconv.ParseFloat: parsing "z": invalid syntax'],
    ['--leader-elect-lease-duration=abc', 'invalid argument "abc" for "--leader-elect-lease-duration" flag: time: invalid duration "abc"'],
    ['--leader-elect-lease-duration=', 'invalid argument "" for "--leader-elect-lease-duration" flag: time: invalid duration ""'],
    [
      '--leader-elect-lease-duration=1',
      'invalid argument "1" for "--leader-elect-lease-duration" flag: time: missing unit in duration "1"',
    ],
    [
      '--leader-elect-lease-duration=1d',
      'invalid argument "1d" for "--leader-elect-lease-duration" flag: time: unknown unit "d" in duration "1d"',
    ],
    ['--bind-address=abc', 'invalid argument "abc" for "--bind-address" flag: failed to parse IP: "abc"'],
    ['--v=x', 'invalid argument "x" for "-v, --v" flag: strconv.ParseUint: parsing "x": invalid syntax'],
    ['-v-1', 'invalid argument "-1" for "-v, --v" flag: strconv.ParseUint: parsing "-1": invalid syntax'],
    ['--vmodule=x', 'invalid argument "x" for "--vmodule" flag: "x" does not have the pattern=N format'],
    ['--version=foo', 'invalid argument "foo" for "--version" flag: strconv.ParseBool: parsing "foo": invalid syntax'],
    ['--version=vX', 'invalid argument "vX" for "--version" flag: could not parse "vX" as version'],
    ['--tls-sni-cert-key=a', 'invalid argument "a" for "--tls-sni-cert-key" flag: expected comma separated certificate and key file paths'],
    ['--controllers=a"b', 'invalid argument "a\\"b" for "--controllers" flag: parse error on line 1, column 2: bare " in non-quoted-field'],
  ])('%s', (arg, message) => {
    expect(problemOf(arg)).toBe(message);
  });
});
