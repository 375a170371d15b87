import type { IncomingMessage, ServerResponse } from 'node:http';
import type { JsonObject } from '../../../operator/base/json';
import type { DiscoveredResource } from '../../../providers/provider';
import { bodyOf, LoopbackServer } from '../../harness/loopback-server';

export interface FakeThing {
  id: string;
  name: string;
  stack: string;
  properties: JsonObject;
}

type Fault = { method: string; name?: string } & (
  | { kind: 'hold' } // commits, and never answers until released
  | { kind: 'drop' } // commits, and cuts the connection
  | { kind: 'refuse'; body: JsonObject }
);

interface Reply {
  status: number;
  body: unknown;
}

interface Body {
  name?: string;
  stack?: string;
  properties?: JsonObject;
}

/**
 * A cloud with one kind of thing, in the test's process. It has no idempotency on purpose: a create that comes twice makes two things,
 * so that only a correct recovery leaves one.
 */
export class FakeCloud extends LoopbackServer {
  readonly things = new Map<string, FakeThing>();
  readonly calls: string[] = [];
  /** When each came, as performance.now() gives it. */
  readonly calledAt = new Map<string, number>();
  readonly #faults: Fault[] = [];
  readonly #held: { answer: () => void; cut: () => void }[] = [];
  #counter = 0;
  #waiters: { predicate: () => boolean; resolve: () => void }[] = [];

  /** The next matching call meets this fault. */
  fault(fault: Fault): void {
    this.#faults.push(fault);
  }

  release(): void {
    this.#held.splice(0).forEach(({ answer }) => answer());
  }

  /** Cuts the connection of the call that was held first. */
  cutFirst(): void {
    this.#held.shift()?.cut();
  }

  get heldCount(): number {
    return this.#held.length;
  }

  /** Settles when the predicate holds; it is asked after every call. */
  until(predicate: () => boolean): Promise<void> {
    if (predicate()) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push({ predicate, resolve }));
  }

  named(name: string, stack?: string): FakeThing[] {
    return [...this.things.values()].filter((thing) => thing.name === name && (stack === undefined || thing.stack === stack));
  }

  discover(stack: string): DiscoveredResource[] {
    return [...this.things.values()]
      .filter((thing) => thing.stack === stack)
      .map(({ id, name, properties }) => {
        const inputs = Object.fromEntries(Object.entries(properties).filter(([key]) => key !== 'address'));
        return { type: 'fake:index:Thing', name, id, inputs, outputs: properties };
      });
  }

  protected async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = (await bodyOf(request)).toString();
    const body = text === '' ? {} : (JSON.parse(text) as Body);
    const id = (request.url ?? '').split('/')[2] ?? '';
    const method = request.method ?? '';
    const name = body.name ?? this.things.get(id)?.name ?? '';
    this.calls.push(`${method} ${name}`);
    this.calledAt.set(`${method} ${name}`, performance.now());
    const fault = this.#takeFault(method, name);
    if (fault?.kind === 'refuse') send(response, { status: 400, body: fault.body });
    else this.#answer(response, this.#commit(method, id, body), fault);
    this.#notify();
  }

  #answer(response: ServerResponse, reply: Reply, fault: Fault | undefined): void {
    if (fault?.kind === 'hold') this.#held.push({ answer: () => send(response, reply), cut: () => void response.destroy() });
    else if (fault?.kind === 'drop') response.destroy();
    else send(response, reply);
  }

  #takeFault(method: string, name: string): Fault | undefined {
    const at = this.#faults.findIndex((fault) => fault.method === method && (fault.name === undefined || fault.name === name));
    return at < 0 ? undefined : this.#faults.splice(at, 1)[0];
  }

  #notify(): void {
    this.#waiters = this.#waiters.filter(({ predicate, resolve }) => {
      if (!predicate()) return true;
      resolve();
      return false;
    });
  }

  #commit(method: string, id: string, body: Body): Reply {
    if (method === 'POST') {
      const thing = {
        id: `thing-${++this.#counter}`,
        name: body.name ?? '',
        stack: body.stack ?? '',
        properties: { ...body.properties, address: `10.0.0.${this.#counter}` },
      };
      this.things.set(thing.id, thing);
      return { status: 201, body: thing };
    }
    const thing = this.things.get(id);
    if (thing === undefined) return { status: 404, body: {} };
    if (method === 'DELETE') this.things.delete(id);
    if (method === 'PATCH') thing.properties = { ...body.properties, address: thing.properties.address ?? '' };
    return { status: 200, body: thing };
  }
}

function send(response: ServerResponse, reply: Reply): void {
  response.writeHead(reply.status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(reply.body));
}
