import { readFileSync } from 'node:fs';
import { toOperatorError } from '../../operator/base/errors';
import { createLogger } from '../../operator/base/log';
import { NODES_READY, type FleetConfig } from '../cluster/nodes';
import { Fleet } from './fleet';

/** The process that keeps a development cluster's Nodes: gets a FleetConfig as its argument, and ends on SIGTERM. Nodes and machines stay. */
async function main(): Promise<void> {
  const { kubeconfig, endpoint, tokenFile, count } = JSON.parse(process.argv[2] ?? '{}') as FleetConfig;
  const asked = new Promise<void>((resolve) => process.once('SIGTERM', () => resolve()));
  const logger = createLogger('nodes');
  const token = readFileSync(tokenFile, 'utf8').trim();
  const fleet = await Fleet.start({ kubeconfig, endpoint, token, count, removeOthers: true, logger });
  process.stdout.write(`${NODES_READY}\n`);
  await asked;
  await fleet.stop();
}

main().then(
  () => process.exit(0),
  (thrown: unknown) => {
    process.stderr.write(`nodes: ${toOperatorError(thrown).message}\n`);
    process.exit(1);
  },
);
