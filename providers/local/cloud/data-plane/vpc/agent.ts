import { pino, type Logger } from 'pino';
import { toOperatorError } from '../../../../../operator/base/errors';
import { BridgeServer } from './bridge-server';
import { onLines } from '../lines';
import { levelName, type AgentConfig, type AgentMessage, type AgentMethod, type AgentRequest } from './protocol';
import { Vpc } from './vpc';

/**
 * The process inside the VPC's namespace: does what the cloud asks over standard input, and takes everything down when that closes,
 * however the cloud ended.
 */
class Agent {
  private readonly vpc: Vpc;
  private readonly bridge: BridgeServer | undefined;
  private ending = false;

  constructor(config: AgentConfig) {
    const logger = loggerTo(send, config.logLevel);
    this.vpc = new Vpc(config, logger);
    if (config.tier === 'vpc-userns') this.bridge = new BridgeServer(config.directory, this.vpc.engine);
  }

  async start(): Promise<void> {
    await this.vpc.start();
    await this.bridge?.start();
    send({ kind: 'ready' });
  }

  async answer({ id, method, params }: AgentRequest): Promise<void> {
    try {
      send({ kind: 'result', id, result: await this.calls[method](params as never) });
    } catch (thrown) {
      const { code, message } = toOperatorError(thrown);
      send({ kind: 'error', id, code, message });
    }
  }

  async end(code: number): Promise<void> {
    if (this.ending) return;
    this.ending = true;
    try {
      await this.vpc.stop();
    } finally {
      process.exit(code);
    }
  }

  private readonly calls: Record<AgentMethod, (params: never) => Promise<unknown>> = {
    applyInstance: (params) => this.vpc.applyInstance(params),
    removeInstance: (params) => this.vpc.removeInstance(params),
    applyLoadBalancer: (params) => this.vpc.applyLoadBalancer(params),
    removeLoadBalancer: (params) => this.vpc.removeLoadBalancer(params),
    applyRoutes: (params) => this.vpc.applyRoutes(params),
    breakRoute: (params) => this.vpc.breakRoute(params),
    health: () => Promise.resolve(this.vpc.health()),
  };
}

function send(message: AgentMessage): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

/** Log lines travel over the same channel: standard error may be gone when the cloud is. */
function loggerTo(write: (message: AgentMessage) => void, level: string): Logger {
  const logger: Logger = pino(
    { level, base: null, timestamp: false },
    {
      write: (line: string) => {
        const { level: number, msg, ...fields } = JSON.parse(line) as { level: number; msg: string } & Record<string, unknown>;
        write({ kind: 'log', level: levelName(logger, number), fields, message: msg });
      },
    },
  );
  return logger;
}

const agent = new Agent(JSON.parse(process.argv[2] ?? '{}') as AgentConfig);
onLines(process.stdin, (line) => void agent.answer(JSON.parse(line) as AgentRequest));
process.stdin.on('end', () => void agent.end(0));
// The cloud was killed: standard input says so as well.
process.stdout.on('error', () => void agent.end(0));
process.on('SIGTERM', () => void agent.end(0));
process.on('uncaughtException', (error) => {
  process.stderr.write(`${error.stack}\n`, () => void agent.end(1));
});
agent.start().catch((error: unknown) => {
  process.stderr.write(`${(error as Error).message}\n`, () => void agent.end(1));
});
