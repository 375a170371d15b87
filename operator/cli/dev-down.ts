import { existsSync, rmSync } from 'node:fs';
import { devPaths } from '../../dev/cluster/paths';
import { shutDown } from '../../dev/cluster/shutdown';

/** `dev down`. @throws OperatorError when something can't be ended */
export async function devDown(name: string, deleteData: boolean): Promise<void> {
  const paths = devPaths(name);
  const ended = await shutDown(paths);
  const what = ended.length === 0 ? 'was not up' : `is down: ended ${ended.join(', ')}`;
  const there = existsSync(paths.root);
  if (deleteData) rmSync(paths.root, { recursive: true, force: true });
  const data = deleteData ? 'its data are deleted' : `its data stay in ${paths.root}`;
  process.stdout.write(`The development cluster "${name}" ${what}${there ? `; ${data}` : ''}.\n`);
}
