import { waitFor } from '../harness/wait-for';

interface Reply {
  id: number;
  result?: { usedSize?: number };
}

/** Where Node's inspector listens once a process has been asked for it by SIGUSR1. */
const INSPECTOR = 'http://127.0.0.1:9229/json/list';
/** The first collection may leave what finalizers let go. */
const COLLECTIONS = 3;

/** What a Node process holds in its heap after garbage collection, by the inspector protocol. */
export class Heap {
  private constructor(private readonly socket: WebSocket) {}

  /** @throws Error when the process does not open its inspector, for example because the port is taken */
  static async of(pid: number): Promise<Heap> {
    process.kill(pid, 'SIGUSR1');
    const url = await waitFor(
      async () => ((await (await fetch(INSPECTOR)).json()) as { webSocketDebuggerUrl: string }[])[0]?.webSocketDebuggerUrl,
      { what: 'the inspector of the operator', timeoutMs: 10_000 },
    );
    const socket = new WebSocket(url);
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener('open', () => resolve(), { once: true });
      socket.addEventListener('error', () => reject(new Error(`no connection to ${url}`)), { once: true });
    });
    return new Heap(socket);
  }

  /** In MB. */
  async usedAfterCollection(): Promise<number> {
    for (let round = 0; round < COLLECTIONS; round++) await this.call('HeapProfiler.collectGarbage');
    return ((await this.call('Runtime.getHeapUsage')).result?.usedSize ?? NaN) / 1024 / 1024;
  }

  close(): void {
    this.socket.close();
  }

  private call(method: string): Promise<Reply> {
    const id = Math.floor(Math.random() * 1e9);
    return new Promise((resolve) => {
      const listen = ({ data }: MessageEvent): void => {
        const reply = JSON.parse(String(data)) as Reply;
        if (reply.id !== id) return;
        this.socket.removeEventListener('message', listen);
        resolve(reply);
      };
      this.socket.addEventListener('message', listen);
      this.socket.send(JSON.stringify({ id, method }));
    });
  }
}
