import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { noPassthrough } from '../../../providers/local/cloud/data-plane/vpc/passthrough-probe';
import { rulesetOf, scriptFor, type PassthroughListener } from '../../../providers/local/cloud/data-plane/vpc/nft-ruleset';
import { tierWorks } from './cloud-process';

/** The kernel replaces the rules while packets pass: none of them may be without its way, or its client is told that the network is unreachable. */
const obstacle = tierWorks('vpc-root') ? noPassthrough('vpc-root') : 'not root';
const ran = obstacle === undefined ? test : test.skip;
const NETNS = `ruleset-change-${process.pid}`;
const CHANGES = 150;
const PORT = 9999;

/** Before our rules, and behind them what has been given a way. */
const COUNTERS = `add table inet seen
add counter inet seen sent
add counter inet seen marked
add chain inet seen before { type filter hook output priority raw ; }
add chain inet seen behind { type filter hook output priority mangle + 1 ; }
add rule inet seen before udp dport ${PORT} counter name sent
add rule inet seen behind udp dport ${PORT} meta mark != 0 counter name marked
`;

/** Many datagrams, and new connections among them. */
const FLOOD = `
const { createSocket } = require('node:dgram');
const open = () => { const socket = createSocket('udp4'); socket.connect(${PORT}, '127.0.0.1', () => { socket.on('error', () => undefined); send(socket); }); };
const send = (socket) => { for (let count = 0; count < 200; count++) socket.send('x'); setImmediate(() => { socket.close(); open(); }); };
for (let index = 0; index < 4; index++) open();`;

const listener = (port: number): PassthroughListener => ({
  ...{ ip: '127.0.0.1', protocol: 'UDP', port, sourceRanges: ['10.0.0.0/8', '127.0.0.0/8'] },
  ...{ affinityMs: 0, fresh: [1001, 1002, 1003], kept: [] },
});

function inside(command: string[], input = ''): string {
  const { status, stdout, stderr } = spawnSync('ip', ['netns', 'exec', NETNS, ...command], { input, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command.join(' ')}: ${stderr}`);
  return stdout;
}

function packets(name: 'sent' | 'marked'): number {
  return Number(/packets (\d+)/.exec(inside(['nft', 'list', 'counter', 'inet', 'seen', name]))?.[1]);
}

describe(`rules of passthrough that change: ${obstacle ?? 'vpc-root'}`, () => {
  ran('no packet misses its way while another port comes and goes', async () => {
    spawnSync('ip', ['netns', 'add', NETNS]);
    inside(['ip', 'link', 'set', 'lo', 'up']);
    const rulesets = [rulesetOf([listener(PORT)]), rulesetOf([listener(PORT), listener(80)])] as const;
    inside(['nft', '-f', '-'], scriptFor(rulesetOf([]), rulesets[0]));
    inside(['nft', '-f', '-'], COUNTERS);
    const flood = spawn('ip', ['netns', 'exec', NETNS, process.execPath, '-e', FLOOD], { stdio: 'ignore' });
    try {
      for (let change = 0; change < CHANGES; change++) {
        const [before, after] = change % 2 === 0 ? rulesets : ([rulesets[1], rulesets[0]] as const);
        inside(['nft', '-f', '-'], scriptFor(before, after));
      }
    } finally {
      flood.kill('SIGKILL');
    }
    await once(flood, 'exit');
    const [sent, marked] = [packets('sent'), packets('marked')];
    spawnSync('ip', ['netns', 'del', NETNS]);
    expect(sent).toBeGreaterThan(10 * CHANGES);
    expect(sent - marked).toBe(0);
  });
});
