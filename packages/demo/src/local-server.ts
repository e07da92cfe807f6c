// A server on a free port of the loopback interface.
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export type LocalServer = { port: number; close: () => Promise<void> };
type Asked = { method: string; url: URL; headers: IncomingHttpHeaders; body: string };
type Answer = (asked: Asked, response: ServerResponse) => void;

export async function startLocalServer(answer: Answer): Promise<LocalServer> {
  const server = createServer((request, response) => void take(request, response, answer));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function take(request: IncomingMessage, response: ServerResponse, answer: Answer): Promise<void> {
  const { method = 'GET', headers } = request;
  let body: string;
  try {
    body = await text(request);
  } catch {
    // The client disconnected.
    response.destroy();
    return;
  }
  answer({ method, url: new URL(request.url ?? '/', 'http://127.0.0.1'), headers, body }, response);
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify(body));
}
