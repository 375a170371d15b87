import { similarTo } from '../../../operator/base/similar';

const KNOWN = ['placement', 'provider', 'pause', 'type'];

test.each([
  ['placment', 'placement'],
  ['plaecment', 'placement'],
  ['Provider', 'provider'],
  ['poviderr', 'provider'],
  ['puase', 'pause'],
  ['tpye', 'type'],
  ['colour', undefined],
  ['tap', undefined],
  ['', undefined],
  ['x'.repeat(10_000), undefined],
])('%.12s is taken for %s', (word, expected) => {
  expect(similarTo(word, KNOWN)).toBe(expected);
});

test('the nearest one is meant', () => {
  expect(similarTo('drain-second', ['drain-seconds', 'train-second'])).toBe('drain-seconds');
  expect(similarTo('paus', ['pass', 'pause'])).toBe('pass');
});
