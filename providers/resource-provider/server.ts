import { Server, ServerCredentials, status, type handleUnaryCall, type ServerUnaryCall } from '@grpc/grpc-js';
import { ResourceProviderService } from '@pulumi/pulumi/proto/provider_grpc_pb';
import { toOperatorError } from '../../operator/base/errors';
import { connectionBelongsTo } from './peer';
import type { ResourceProvider } from './resource-provider';
import { type OperationContext, operations, type Operation } from './service';
import { type ResourceFailure, toStatus } from './status';

const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
const CANCEL_GRACE_MS = 10_000;

export interface ResourceProviderServerOptions {
  /** Called with the exact error of every operation that failed, before the engine gets its text. */
  onFailure(failure: ResourceFailure): void;
  /** Process id of the engine; only its connections are served. Asked at each new connection, because the port must exist before the engine does. */
  enginePid(): number | undefined;
  /** How long operations may go on after the engine cancels; default 10 s. */
  cancelGraceMs?: number;
}

/**
 * Serves one resource provider to one engine process on a random loopback port, for the length of one update.
 * The engine is told of it by PULUMI_DEBUG_PROVIDERS=<package>:<port>.
 */
export class ResourceProviderServer {
  readonly #server = new Server({
    'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
    'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
  });
  readonly #abort = new AbortController();
  readonly #admitted = new Map<string, Promise<boolean>>();
  #port = 0;
  #cancelTimer: NodeJS.Timeout | undefined;

  constructor(
    readonly provider: ResourceProvider,
    private readonly options: ResourceProviderServerOptions,
  ) {}

  /** `<package>:<port>`, one entry of PULUMI_DEBUG_PROVIDERS. */
  get attachment(): string {
    return `${this.provider.package}:${this.#port}`;
  }

  async listen(): Promise<void> {
    const context: OperationContext = { provider: this.provider, signal: this.#abort.signal, cancel: () => this.#cancelSoon() };
    const handlers = Object.entries(operations(context)).map(([name, operation]) => [name, this.#handler(operation)] as const);
    this.#server.addService(ResourceProviderService, Object.fromEntries(handlers));
    this.#port = await new Promise<number>((resolve, reject) => {
      this.#server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => (error ? reject(error) : resolve(port)));
    });
  }

  /** Stops serving at once and aborts what is still in flight. */
  close(): void {
    clearTimeout(this.#cancelTimer);
    this.#abort.abort();
    this.#server.forceShutdown();
  }

  /**
   * A write in flight is better finished and stored than cut off with an unknown result, so a cancelation comes into effect late;
   * only what takes longer, such as waiting for a state, is aborted.
   */
  #cancelSoon(): void {
    this.#cancelTimer ??= setTimeout(() => this.#abort.abort(), this.options.cancelGraceMs ?? CANCEL_GRACE_MS).unref();
  }

  #handler(operation: Operation): handleUnaryCall<unknown, unknown> {
    return (call, callback) => {
      this.#serve(operation, call).then(
        (response) => callback(null, response),
        (thrown: unknown) => callback(this.#failed(operation, call.request, thrown)),
      );
    };
  }

  async #serve(operation: Operation, call: ServerUnaryCall<unknown, unknown>): Promise<unknown> {
    const peer = call.getPeer();
    if (!(await this.#admit(peer))) throw new ForeignPeer(peer);
    return operation.run(call.request);
  }

  #failed(operation: Operation, request: unknown, thrown: unknown): { code: status; details: string } {
    if (thrown instanceof ForeignPeer) return { code: status.PERMISSION_DENIED, details: thrown.message };
    const error = toOperatorError(thrown);
    if (operation.name !== undefined) {
      this.options.onFailure({ urn: operation.urnOf?.(request) ?? '', operation: operation.name, error });
    }
    return toStatus(error);
  }

  #admit(peer: string): Promise<boolean> {
    const known = this.#admitted.get(peer);
    if (known !== undefined) return known;
    const pid = this.options.enginePid();
    if (pid === undefined) return Promise.resolve(false);
    const answer = connectionBelongsTo(pid, peer, this.#port);
    this.#admitted.set(peer, answer);
    return answer;
  }
}

class ForeignPeer extends Error {
  constructor(peer: string) {
    super(`the connection from ${peer} doesn't belong to this update's engine`);
  }
}
