import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request as it came in. */
export interface Seen {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: unknown;
}

export type Answer = { status: number; body?: object; headers?: Record<string, string> } | 'drop' | 'garbage';

/** A real HTTP server on loopback or a unix socket that gives the answers of a script, and the last one for ever. */
export interface ScriptedServer {
  endpoint: string;
  seen: Seen[];
  connections: () => number;
  script(...answers: Answer[]): void;
  close(): Promise<void>;
}

export async function startScriptedServer(socketPath?: string): Promise<ScriptedServer> {
  const seen: Seen[] = [];
  let answers: Answer[] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const body: unknown = text === '' ? undefined : JSON.parse(text);
      seen.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body });
      send(response, answers.length > 1 ? answers.shift() : answers[0]);
    });
  });
  server.on('connection', () => connections++);
  await new Promise<void>((resolve) =>
    socketPath === undefined ? server.listen(0, '127.0.0.1', resolve) : server.listen(socketPath, resolve),
  );
  return {
    endpoint: socketPath === undefined ? `http://127.0.0.1:${(server.address() as AddressInfo).port}` : `unix:${socketPath}`,
    seen,
    connections: () => connections,
    script: (...next) => (answers = next),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function send(response: ServerResponse, answer: Answer | undefined): void {
  if (answer === undefined || answer === 'drop') return void response.destroy();
  if (answer === 'garbage') return void response.end('<html>');
  response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers });
  response.end(answer.body === undefined ? '' : JSON.stringify(answer.body));
}
