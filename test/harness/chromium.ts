import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from './wait-for';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];
const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'].concat(
  '--disable-component-update',
  '--disable-sync',
  '--window-size=1400,1000',
  '--remote-debugging-port=0',
  '--remote-debugging-address=127.0.0.1',
);
const ANSWER_MS = 20_000;

/** Path of a Chromium; undefined = there is none. Debian: apt-get install chromium. */
export function findChromium(): string | undefined {
  return NAMES.map((name) => spawnSync('which', [name], { encoding: 'utf8' }).stdout.trim()).find((path) => path !== '');
}

interface Message {
  id?: number;
  method?: string;
  params?: unknown;
  result?: unknown;
  error?: { message: string };
}

/** One page of a headless Chromium, driven by the DevTools protocol. */
export class ChromiumPage {
  /** What the page's console and Content-Security-Policy complained of. */
  readonly complaints: string[] = [];
  private readonly waiting = new Map<number, { resolve: (result: unknown) => void; reject: (error: Error) => void }>();
  private last = 0;

  private constructor(
    private readonly child: ChildProcess,
    private readonly directory: string,
    private readonly socket: WebSocket,
  ) {
    socket.addEventListener('message', ({ data }) => this.receive(JSON.parse(String(data)) as Message));
  }

  static async start(program: string): Promise<ChromiumPage> {
    const directory = mkdtempSync(join(tmpdir(), 'cloud-operator-chromium-'));
    const child = spawn(program, [...FLAGS, `--user-data-dir=${directory}`, 'about:blank'], { stdio: 'ignore' });
    const file = join(directory, 'DevToolsActivePort');
    const port = await waitFor(() => Promise.resolve(existsSync(file) && readFileSync(file, 'utf8').split('\n')[0]), {
      what: 'the port of Chromium',
      timeoutMs: 60_000,
    });
    const pages = (): Promise<{ type: string; webSocketDebuggerUrl: string }[]> =>
      fetch(`http://127.0.0.1:${port}/json/list`).then((answer) => answer.json() as ReturnType<typeof pages>);
    const url = await waitFor(async () => (await pages()).find(({ type }) => type === 'page')?.webSocketDebuggerUrl, {
      what: 'a page of Chromium',
      timeoutMs: 60_000,
    });
    const socket = new WebSocket(url);
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve);
      socket.addEventListener('error', reject);
    });
    const page = new ChromiumPage(child, directory, socket);
    for (const domain of ['Page', 'Runtime', 'Log']) await page.send(`${domain}.enable`);
    return page;
  }

  /** @throws Error with what Chromium says */
  send(method: string, params: object = {}): Promise<unknown> {
    const id = ++this.last;
    this.socket.send(JSON.stringify({ id, method, params }));
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      setTimeout(() => reject(new Error(`${method} was not answered`)), ANSWER_MS).unref();
    });
  }

  async open(url: string): Promise<void> {
    await this.send('Page.navigate', { url });
  }

  /** Value of an expression in the page, as JSON. */
  async evaluate<T>(expression: string): Promise<T> {
    const answer = await this.send('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true });
    const { result, exceptionDetails } = answer as { result: { value: T }; exceptionDetails?: { text: string } };
    if (exceptionDetails !== undefined) throw new Error(`${expression}: ${JSON.stringify(exceptionDetails)}`);
    return result.value;
  }

  /** Waits until an expression is true in the page. */
  until(what: string, expression: string): Promise<unknown> {
    return waitFor(() => this.evaluate<boolean>(expression), { what, timeoutMs: 30_000 });
  }

  async press(key: string): Promise<void> {
    const [text, code] = key === 'Enter' ? ['\r', 13] : [undefined, { Tab: 9, Escape: 27, ArrowDown: 40 }[key] ?? 0];
    const event = { key, code: key, windowsVirtualKeyCode: code, ...(text === undefined ? {} : { text }) };
    await this.send('Input.dispatchKeyEvent', { type: 'keyDown', ...event });
    await this.send('Input.dispatchKeyEvent', { type: 'keyUp', ...event });
  }

  async prefers(scheme: 'light' | 'dark'): Promise<void> {
    await this.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] });
  }

  /** For somebody who wants to see it. */
  async screenshot(file: string): Promise<void> {
    const { data } = (await this.send('Page.captureScreenshot', { format: 'png' })) as { data: string };
    writeFileSync(file, Buffer.from(data, 'base64'));
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    await this.send('Browser.close').catch(() => this.child.kill('SIGKILL'));
    await ended;
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5 });
  }

  private receive({ id, method, params, result, error }: Message): void {
    if (method === 'Log.entryAdded' || method === 'Runtime.exceptionThrown') this.complaints.push(JSON.stringify(params));
    if (id === undefined) return;
    const waits = this.waiting.get(id);
    this.waiting.delete(id);
    if (error === undefined) waits?.resolve(result);
    else waits?.reject(new Error(error.message));
  }
}
