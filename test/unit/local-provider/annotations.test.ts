import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { PROJECT_ROOT } from '../../../operator/entry';
import { ANNOTATION_PREFIX, ANNOTATIONS, compile } from '../../../providers/local/annotations';
import { localLoadBalancer } from '../../../crds';

const key = (name: string) => `${ANNOTATION_PREFIX}${name}`;

describe('annotations of the local cloud', () => {
  it('sets the fields of spec.local', () => {
    const { block, problems } = compile({
      [key('engine')]: 'Node',
      [key('health-check-interval')]: '250ms',
      [key('drain-seconds')]: ' 7 ',
      [key('idle-timeout')]: '1m30s',
      [key('proxy-protocol')]: 'true',
      [key('name')]: 'edge-lb',
      'service.beta.kubernetes.io/aws-load-balancer-type': 'nlb',
    });
    expect(problems).toEqual([]);
    expect(block).toEqual({
      engine: 'Node',
      healthCheckIntervalMs: 250,
      drainSeconds: 7,
      idleTimeoutSeconds: 90,
      proxyProtocol: 'V2',
      name: 'edge-lb',
    });
    expect(localLoadBalancer.parse(block)).toEqual(block);
  });

  it.each<[string, string | undefined, 'Node' | 'Passthrough' | undefined, object]>([
    ['neither', undefined, undefined, {}],
    ['the CloudProvider alone', undefined, 'Passthrough', { engine: 'Passthrough' }],
    ['the annotation alone', 'Passthrough', undefined, { engine: 'Passthrough' }],
    ['both: the annotation counts', 'Node', 'Passthrough', { engine: 'Node' }],
  ])('the engine is named by %s', (_by, annotation, engine, block) => {
    const settings = { local: { endpoint: 'http://127.0.0.1:1', ...(engine === undefined ? {} : { engine }) } };
    const annotations: Record<string, string> = annotation === undefined ? {} : { [key('engine')]: annotation };
    expect(compile(annotations, undefined, settings)).toEqual({ block, problems: [] });
  });

  it.each([
    ['v1', 'V1'],
    ['V2', 'V2'],
    ['true', 'V2'],
    ['false', 'None'],
  ])('proxy-protocol: "%s" is %s', (text, expected) => {
    expect(compile({ [key('proxy-protocol')]: text }).block).toEqual({ proxyProtocol: expected });
  });

  it('gives an empty block without annotations of its own', () => {
    expect(compile({ 'example.com/health-check-interval': '1s' })).toEqual({ block: {}, problems: [] });
  });

  it('warns of an unknown name and lists the known ones', () => {
    const { block, problems } = compile({ [key('drain-secs')]: '5' });
    expect(block).toEqual({});
    expect(problems).toEqual([expect.objectContaining({ severity: 'Warning', field: key('drain-secs'), value: '5' })]);
    ANNOTATIONS.forEach(({ name }) => expect(problems[0]?.message).toContain(key(name)));
  });

  it('says which one was probably meant', () => {
    expect(compile({ [key('drian-second')]: '5' }).problems[0]?.message).toContain(`Did you mean ${key('drain-seconds')}?`);
  });

  it.each([
    ['name', 'Edge_1'],
    ['name', 'x'.repeat(64)],
    ['health-check-interval', 'soon'],
    ['health-check-interval', '49ms'],
    ['health-check-interval', '11m'],
    ['drain-seconds', '-1'],
    ['drain-seconds', '1.5'],
    ['drain-seconds', '3601'],
    ['drain-seconds', ''],
    ['idle-timeout', '0s'],
    ['idle-timeout', '1500ms'],
    ['engine', 'haproxy'],
    ['proxy-protocol', 'v3'],
    ['proxy-protocol', '__proto__'],
  ])('refuses %s: "%s", naming annotation, value and remedy', (name, value) => {
    const { block, problems } = compile({ [key(name)]: value, [key('drain-seconds')]: name === 'drain-seconds' ? value : '9' });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatchObject({ severity: 'Error', field: key(name), value });
    expect(problems[0]?.message).toContain(`"${value}"`);
    expect(problems[0]?.message).toContain(ANNOTATIONS.find((annotation) => annotation.name === name)?.expects);
    // One bad annotation does not take the others with it.
    expect(block).toEqual(name === 'drain-seconds' ? {} : { drainSeconds: 9 });
  });

  it('gives a block that the kind accepts, for whatever text', () => {
    const names = fc.constantFrom(...ANNOTATIONS.map(({ name }) => key(name)), key('other'));
    const texts = fc.oneof(
      fc.string(),
      fc.nat().map(String),
      fc.tuple(fc.nat(9999), fc.constantFrom('ms', 's', 'm', 'h')).map(([n, unit]) => `${n}${unit}`),
    );
    fc.assert(
      fc.property(fc.dictionary(names, texts), (annotations) => {
        const { block, problems } = compile(annotations);
        expect(localLoadBalancer.safeParse(block).success).toBe(true);
        expect(Object.keys(block).length + problems.length).toBe(Object.keys(annotations).length);
      }),
    );
  });
});

it('the table in docs/reference/annotations.md is the table in the code', () => {
  const text = readFileSync(join(PROJECT_ROOT, 'docs', 'reference', 'annotations.md'), 'utf8');
  const rows = text.split('\n').filter((line) => line.startsWith(`| \`${ANNOTATION_PREFIX}`));
  const documented = rows.map((line) => line.replace(/ +\|/g, ' |'));
  const expected = ANNOTATIONS.map((annotation) => {
    const { name, field, default: value, mutable, expects } = annotation;
    return `| \`${key(name)}\` | \`${field}\` | ${value} | ${mutable ? 'yes' : 'no'} | ${expects} |`;
  });
  expect(documented).toEqual(expected);
});
