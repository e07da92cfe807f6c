// What HTTP alone costs on this machine: a server that reads a POST and answers it, and that answers a GET with one
// event. It stores nothing. A relay cannot be faster than this.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerOrders } from '../child.ts';

export type PlainServer = { port: number };

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.writeHead(200, { 'Content-Type': 'text/event-stream', Connection: 'close' });
    response.write('data: {"bodyB":""}\n\n');
    return;
  }
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const text = JSON.stringify({ ok: true, bytes: Buffer.concat(chunks).length });
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': text.length });
    response.end(text);
  });
});
server.listen(0, '127.0.0.1');

answerOrders(async (): Promise<PlainServer> => {
  if (!server.listening) await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port };
});
