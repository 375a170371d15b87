import { httpGet, type Endpoint, type LoadResult } from '../../../dev/demo/traffic';
import { addressOf, type Scene } from '../operator/scene';

const TIMEOUT_MS = 3_000;

/**
 * Constant load of clients that follow a Service as DNS would: each request goes to the address that its status had when it was last looked up,
 * on a connection of its own.
 */
export class FollowingLoad {
  private running = true;
  private readonly result: LoadResult = { requests: 0, failures: [] };
  private readonly addresses = new Map<string, Endpoint>();
  private work: Promise<unknown> = Promise.resolve();
  private target: (Endpoint & { address: string }) | undefined;

  constructor(
    private readonly scene: Scene,
    private readonly service: { name: string; port: number },
  ) {}

  /**
   * Load on a Service while something happens, and some time longer.
   * @throws the first failures of requests, if there were any
   */
  static async during(
    scene: Scene,
    service: { name: string; port: number },
    change: (load: FollowingLoad) => Promise<void>,
  ): Promise<FollowingLoad> {
    const load = new FollowingLoad(scene, service);
    await load.start();
    try {
      await change(load);
      const { requests } = load.result;
      await scene.until('some more requests', () => Promise.resolve(load.result.requests > requests + 100));
    } finally {
      await load.stop();
    }
    expect(load.result.failures).toEqual([]);
    return load;
  }

  async start(concurrency = 4): Promise<void> {
    await this.lookUp();
    const clients = Array.from({ length: concurrency }, () => this.ask());
    this.work = Promise.all([this.follow(), ...clients]);
  }

  /** Every address that was asked, in the order in which they came. */
  get seen(): string[] {
    return [...this.addresses.keys()];
  }

  async stop(): Promise<void> {
    this.running = false;
    await this.work;
  }

  /** Asks once more where clients were sent before. */
  async askAgain(index: number): Promise<void> {
    const [, target] = [...this.addresses][index] ?? [];
    if (target === undefined) throw new RangeError(`there was no address ${index}`);
    await httpGet(target, TIMEOUT_MS);
  }

  private async follow(): Promise<void> {
    while (this.running) {
      await this.lookUp();
      await pause(100);
    }
  }

  /** How the address is reached from here is the data plane's affair, and asked of the cloud; clients of a real cloud need no such thing. */
  private async lookUp(): Promise<void> {
    const address = addressOf(await this.scene.service(this.service.name));
    if (address === undefined || address === this.target?.address) return;
    const { addresses, loadbalancers } = await this.scene.content();
    const id = addresses.find(({ ip }) => ip === address)?.id ?? '';
    const loadBalancer = loadbalancers.find(({ addressIDs }) => addressIDs.includes(id));
    const listener = loadBalancer?.listeners.find(({ port }) => port === this.service.port)?.name;
    const found = loadBalancer?.hostPorts.find((port) => port.listener === listener);
    if (found === undefined) throw new Error(`the cloud has no listener ${this.service.port} at ${address}, which the status names`);
    this.target = { address, ip: found.ip, port: found.port };
    this.addresses.set(address, this.target);
  }

  private async ask(): Promise<void> {
    while (this.running) {
      this.result.requests += 1;
      if (this.target === undefined) throw new Error('nobody knows where to ask');
      const { address } = this.target;
      await httpGet(this.target, TIMEOUT_MS).catch((error: Error) => this.result.failures.push(`${address}: ${error.message}`));
      await pause(5);
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
