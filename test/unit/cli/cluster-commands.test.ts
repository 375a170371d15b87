import { Command } from 'commander';
import { adopt } from '../../../operator/cli/adopt';
import { approve } from '../../../operator/cli/approve';
import { explain } from '../../../operator/cli/explain';
import { history } from '../../../operator/cli/history';
import { pause, resume } from '../../../operator/cli/pause';
import { plan } from '../../../operator/cli/plan';
import { reconcile } from '../../../operator/cli/reconcile';
import { release } from '../../../operator/cli/release';
import { sweep } from '../../../operator/cli/sweep';
import { tree } from '../../../operator/cli/tree';
import { Deeds } from '../../../operator/cli/cluster/done';

const COMMANDS = { adopt, approve, explain, history, pause, plan, reconcile, release, resume, sweep, tree };

test.each(Object.entries(COMMANDS))('%s prints JSON and YAML, and has help with examples', (name, add) => {
  const program = new Command();
  add(program);
  const command = program.commands.find((one) => one.name() === name);
  expect(command?.options.find(({ long }) => long === '--output')?.argChoices).toEqual(expect.arrayContaining(['table', 'json', 'yaml']));
  let help = '';
  command?.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
  expect(help).toMatch(/Examples:\n {2}kubectl cloud /);
  expect(help).toContain('--kubeconfig');
});

describe('what a command did', () => {
  const written = (format: 'table' | 'json' | 'yaml'): string => {
    let text = '';
    const write = jest.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
      text += String(chunk);
      return true;
    });
    const deeds = new Deeds(format);
    deeds.did({ kind: 'CloudLoadBalancer', name: 'shop/web', state: 'Ready', reason: undefined }, 'CloudLoadBalancer shop/web: Ready');
    deeds.say('That is all.');
    deeds.end();
    write.mockRestore();
    return text;
  };

  it('is lines for people', () => expect(written('table')).toBe('CloudLoadBalancer shop/web: Ready\nThat is all.\n'));
  it('is one document for programs', () => {
    expect(JSON.parse(written('json'))).toEqual([{ kind: 'CloudLoadBalancer', name: 'shop/web', state: 'Ready' }]);
    expect(written('yaml')).toBe('- kind: CloudLoadBalancer\n  name: shop/web\n  state: Ready\n');
  });
});
