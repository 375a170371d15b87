import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '../../../operator/base/log';
import type { DataPlane } from '../../../providers/local/cloud/data-plane';
import { createDataPlane } from '../../../providers/local/cloud/data-plane/index';

let directory: string;
let planes: DataPlane[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'plane-'));
  planes = [];
});

afterEach(async () => {
  await Promise.all(planes.map((plane) => plane.stop()));
  rmSync(directory, { recursive: true, force: true });
});

async function start(name: string): Promise<DataPlane> {
  const plane = await createDataPlane('auto', { directory: join(directory, name), logger: silentLogger });
  planes.push(plane);
  await plane.start();
  return plane;
}

test('"auto" starts the best tier in this process, several side by side, and each keeps its addresses', async () => {
  const [a, b] = [await start('a'), await start('b')];
  expect(a.topology.reason).toContain(a.topology.tier);
  expect(a.topology.loadBalancerCIDR).not.toBe(b.topology.loadBalancerCIDR);
  const before = a.loadBalancerAddress(1, 'IPv4');
  planes.shift();
  await a.stop();
  expect((await start('a')).loadBalancerAddress(1, 'IPv4')).toBe(before);
});

test('what is not there is removed without complaint', async () => {
  const plane = await start('a');
  await plane.removeInstance('i-none');
  await plane.removeLoadBalancer('lb-none');
  await plane.breakRoute('10.244.77.0/24');
  expect((await plane.health()).size).toBe(0);
  expect(['kernel', 'userland']).toContain(await plane.applyRoutes([]));
});

test('a data plane that was never started can be stopped', async () => {
  planes.push(await createDataPlane('auto', { directory: join(directory, 'a'), logger: silentLogger }));
});
