import { CloudProcess, kernelPartsOf, processesOf, readProc, tierWorks } from './cloud-process';
import { request, until } from './client';

/** Processes of the cloud that run the agent; the last one is the agent itself, the others have started it. */
const agents = (directory: string) => processesOf(directory).filter((pid) => readProc(`/proc/${pid}/cmdline`).includes('vpc/agent.js'));

const kill = (pids: number[]) => {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      // One of them may have ended with another.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
};

describe.each(['vpc-root', 'vpc-userns'] as const)('agent, tier %s', (tier) => {
  const ran = tierWorks(tier) ? test : test.skip;
  let cloud: CloudProcess;
  let other: CloudProcess | undefined;

  beforeEach(async () => {
    if (tierWorks(tier)) cloud = await CloudProcess.start(tier, CloudProcess.newFolder(tier));
  });

  afterEach(async () => {
    await other?.remove();
    other = undefined;
    if (tierWorks(tier)) await cloud.remove();
  });

  ran('is started again after it was killed, and everything works as before', async () => {
    const node = await cloud.addNode(1);
    const pool = await cloud.addPool('TCP', 30080, [node]);
    const balancer = await cloud.addLoadBalancer(pool, await cloud.addPool('UDP', 30053, [node]));
    const http = cloud.endpoint(balancer, 'http');
    await until(async () => (await request(http)).node === 'node-1');
    const old = agents(cloud.directory);
    kill(old);
    await until(() => agents(cloud.directory).some((pid) => !old.includes(pid)));
    // The nodelet is told again what to serve by its client, which finds the new one.
    await until(async () => (await request(http).catch(() => undefined))?.node === 'node-1');
  });

  ran('when cloud and agent are killed at once no process is left, and the next cloud of the machine removes the rest', async () => {
    await cloud.addNode(1);
    const pids = agents(cloud.directory);
    expect(pids.length).toBeGreaterThan(0);
    const ended = cloud.end('SIGKILL');
    kill(pids);
    await ended;
    await until(() => processesOf(cloud.directory).length === 0);
    other = await CloudProcess.start(tier, CloudProcess.newFolder(tier));
    expect(kernelPartsOf(cloud.directory)).toEqual([]);
  });
});
