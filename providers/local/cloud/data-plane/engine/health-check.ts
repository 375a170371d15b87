import * as http from 'node:http';
import { connect, type Socket } from 'node:net';
import type { PoolHealthCheck } from '../../../api';

/**
 * Asks one target once. Resolves with undefined when it is well, else with the reason in a few words; never rejects.
 * @param preface what a target that is asked by HTTP is sent first
 */
export type Checker = (address: string, port: number, check: PoolHealthCheck, preface?: Buffer) => Promise<string | undefined>;

/** The real checker: a TCP connect, or an HTTP GET that must answer 2xx or 3xx within `timeoutMs`. */
export const checkTarget: Checker = (address, port, check, preface) =>
  check.protocol === 'HTTP' ? checkHttp({ host: address, port }, check, preface) : checkTcp(address, port, check.timeoutMs);

function checkTcp(host: string, port: number, timeoutMs: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const finish = (reason?: string): void => {
      clearTimeout(timer);
      // A reset frees the port at once: thousands of checks must not pile up in TIME_WAIT.
      if (reason === undefined) socket.resetAndDestroy();
      else socket.destroy();
      resolve(reason);
    };
    const timer = setTimeout(() => finish(`no connection within ${timeoutMs} ms`), timeoutMs);
    socket.once('connect', () => finish());
    socket.on('error', (error: NodeJS.ErrnoException) => finish(error.code ?? error.message));
  });
}

function checkHttp(
  target: { host: string; port: number },
  check: PoolHealthCheck,
  preface: Buffer = Buffer.alloc(0),
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const createConnection = (): Socket => {
      const socket = connect(target);
      if (preface.length > 0) socket.write(preface);
      return socket;
    };
    const request = http.get({ ...target, path: check.path ?? '/', createConnection, headers: { connection: 'close' } });
    const finish = (reason?: string): void => {
      clearTimeout(timer);
      request.destroy();
      resolve(reason);
    };
    const timer = setTimeout(() => finish(`no answer within ${check.timeoutMs} ms`), check.timeoutMs);
    request.on('response', (response) => {
      const status = response.statusCode ?? 0;
      response.resume();
      finish(status >= 200 && status < 400 ? undefined : `HTTP ${status}`);
    });
    request.on('error', (error: NodeJS.ErrnoException) => finish(error.code ?? error.message));
  });
}
