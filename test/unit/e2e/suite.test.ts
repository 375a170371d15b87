import { optionsOf } from '../../e2e/options';
import { outcomesIn } from '../../e2e/suite';

it('takes the outcome of each test from a report, and of nothing else in it', () => {
  const spec = (state: string, more: object) => ({
    LeafNodeType: 'It',
    ContainerHierarchyTexts: ['[sig]'],
    LeafNodeText: 'works',
    State: state,
    RunTime: 1.5e9,
    ...more,
  });
  const report = [
    {
      SpecReports: [
        { LeafNodeType: 'BeforeSuite', ContainerHierarchyTexts: null, LeafNodeText: '', State: 'passed', RunTime: 1 },
        spec('passed', {}),
        spec('failed', { Failure: { Message: 'no answer' } }),
      ],
    },
  ];
  expect(outcomesIn(JSON.stringify(report))).toEqual([
    { title: '[sig] works', state: 'passed', seconds: 1.5, message: '' },
    { title: '[sig] works', state: 'failed', seconds: 1.5, message: 'no answer' },
  ]);
});

describe('options', () => {
  it('has all tests on two nodes when nothing is said', () => {
    expect(optionsOf([])).toMatchObject({ nodes: 2, focus: [], proxyMode: 'nftables', onlyCluster: false, keep: false });
  });

  it.each([
    [['--nodes', '0'], '--nodes must be a whole number from 1 to 999, not "0"'],
    [['--proxy', 'ipvs'], '--proxy must be nftables or iptables, not "ipvs"'],
    [['--what'], "Unknown option '--what'"],
  ])('refuses %j', (args, message) => {
    expect(() => optionsOf(args)).toThrow(message);
  });
});
