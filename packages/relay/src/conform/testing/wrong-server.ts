// A server that follows the protocol except for one fault: a proxy for a relay that changes what passes through.
import {
  createServer,
  request as dial,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export type Passing = {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** Streams requested so far, including this one. */
  streams: number;
};
export type Answered = { status: number; headers: IncomingHttpHeaders; body: string };

/** What it changes: requests, answers, or frames of streams. */
export type Fault = {
  /** Part of the detail that the row shows. */
  shows: string;
  request?: (passing: Passing) => void;
  answer?: (answered: Answered, passing: Passing) => void;
  /** Called for each stream; returns a function that changes each of its frames. An empty result drops the frame. */
  frames?: (passing: Passing) => (frame: string) => string;
  /** Passes on the received part of a body that was cut off. */
  takesTorn?: boolean;
};

export async function startWrongServer(target: string, fault: Omit<Fault, 'shows'>): Promise<string> {
  let streams = 0;
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    let isOver = false;
    const pass = (): void => {
      if (isOver) return;
      isOver = true;
      const isStreamAsked = request.headers.accept?.includes('text/event-stream') === true;
      if (isStreamAsked) streams += 1;
      const { method = 'GET', url = '/', headers } = request;
      forward({ method, url, headers: { ...headers }, body: Buffer.concat(parts), streams }, response);
    };
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', pass);
    request.on('error', () => (fault.takesTorn === true ? pass() : undefined));
  });

  function forward(passing: Passing, response: ServerResponse): void {
    fault.request?.(passing);
    const { method, url, body } = passing;
    const headers = { ...passing.headers };
    delete headers['transfer-encoding'];
    delete headers.expect;
    if (method === 'POST') headers['content-length'] = String(body.length);
    const outgoing = dial(target + url, { method, headers, agent: false }, (incoming) => {
      if (incoming.headers['content-type'] === 'text/event-stream') stream(passing, incoming, response);
      else void answer(passing, incoming, response);
    });
    outgoing.on('error', () => response.destroy());
    response.on('close', () => outgoing.destroy());
    outgoing.end(body);
  }

  async function answer(
    passing: Passing,
    incoming: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of incoming as AsyncIterable<Buffer>) parts.push(part);
    const answered = {
      status: incoming.statusCode ?? 0,
      headers: { ...incoming.headers },
      body: Buffer.concat(parts).toString(),
    };
    fault.answer?.(answered, passing);
    delete answered.headers['content-length'];
    response.writeHead(answered.status, answered.headers);
    response.end(passing.method === 'HEAD' ? undefined : answered.body);
  }

  function stream(passing: Passing, incoming: IncomingMessage, response: ServerResponse): void {
    const spoil = fault.frames?.(passing) ?? ((frame: string) => frame);
    const answered = { status: 200, headers: { ...incoming.headers }, body: '' };
    fault.answer?.(answered, passing);
    response.writeHead(answered.status, answered.headers);
    // A large frame arrives in many pieces, which are joined once.
    let pieces: string[] = [];
    incoming.setEncoding('utf8');
    incoming.on('data', (text: string) => {
      pieces.push(text);
      if (!text.includes('\n')) return;
      const frames = pieces.join('').split('\n\n');
      pieces = [frames.pop() ?? ''];
      const out = frames.map(spoil).filter((frame) => frame !== '');
      if (out.length === 0 || response.write(`${out.join('\n\n')}\n\n`)) return;
      incoming.pause();
      response.once('drain', () => incoming.resume());
    });
    incoming.on('close', () => response.end());
    incoming.on('error', () => response.destroy());
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
