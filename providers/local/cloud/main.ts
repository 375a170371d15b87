import { messageWithRemedy, OperatorError, toOperatorError } from '../../../operator/base/errors';
import { readConfig } from './config';
import { serveLocalCloud } from './serve';

/** `node main.js --config FILE`; exit code 2 = the file can't be used. */
async function main(args: string[]): Promise<number> {
  try {
    const [flag, file] = args;
    if (flag !== '--config' || file === undefined || args.length > 2) {
      throw new OperatorError('Invalid', 'usage: main.js --config FILE');
    }
    return await serveLocalCloud(await readConfig(file));
  } catch (error) {
    const failure = toOperatorError(error);
    process.stderr.write(`local-cloud: ${messageWithRemedy(failure)}\n`);
    return failure.code === 'Invalid' ? 2 : 1;
  }
}

// A data plane's helpers may hold the event loop for a moment longer; the cloud has stopped in order.
void main(process.argv.slice(2)).then((code) => process.exit(code));
