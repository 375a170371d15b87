import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { OperatorError } from '../../../operator/base/errors';
import { ApiFailure } from './api-failure';
import { parse } from './schema';

const listen = z.strictObject({
  /** On 127.0.0.1; 0 = any free one. */
  port: z.int().min(0).max(65_535).exactOptional(),
  /** Path of a unix socket. */
  socket: z.string().min(1).max(107).exactOptional(),
});

const settings = z.strictObject({
  /** For the journal, and for what the data plane keeps on disk. */
  directory: z.string().min(1),
  listen: listen.refine((value) => value.port === undefined || value.socket === undefined, 'give a port or a socket, not both'),
  /** Made at the first start, mode 0600. */
  tokenFile: z.string().min(1),
  tier: z.enum(['auto', 'vpc-root', 'vpc-userns', 'loopback', 'netns', 'none']),
  /** For the tier netns: the network namespace of machines that are there already, such as /proc/1/ns/net or /run/netns/NAME. */
  namespace: z.string().min(1).exactOptional(),
  logLevel: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).exactOptional(),
  /** End when standard input closes: no process is left when the parent dies. */
  exitWithParent: z.boolean().exactOptional(),
});

const config = settings.refine(({ tier, namespace }) => (tier === 'netns') === (namespace !== undefined), {
  path: ['namespace'],
  message: 'goes with the tier netns, which needs it',
});

/** The configuration file of the local cloud. */
export type LocalCloudConfig = z.infer<typeof config>;

/** @throws OperatorError Invalid that names the file and the field */
export async function readConfig(file: string): Promise<LocalCloudConfig> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new OperatorError('Invalid', `${file} can't be read: ${(error as Error).message}`, { cause: error });
  }
  try {
    return parseConfig(JSON.parse(text));
  } catch (error) {
    throw new OperatorError('Invalid', `${file}: ${(error as Error).message}`, { cause: error });
  }
}

/** @throws OperatorError Invalid that names the field */
export function parseConfig(value: unknown): LocalCloudConfig {
  try {
    return parse(config, value);
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error;
    const { field } = error.body;
    throw new OperatorError('Invalid', error.message, { cause: error, ...(field === undefined ? {} : { field }) });
  }
}
