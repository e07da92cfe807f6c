// A loopback server that records its requests, and answers as the test wants.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { onTestFinished } from 'vitest';

export type RecordedRequest = { method: string; url: string; headers: IncomingHttpHeaders; body: string };

export type RecordingServer = {
  url: string;
  port: number;
  requests: RecordedRequest[];
  close: () => Promise<void>;
};

export async function startRecordingServer(
  answer: (request: RecordedRequest, response: ServerResponse) => void,
  port = 0,
): Promise<RecordingServer> {
  const requests: RecordedRequest[] = [];
  const server = createServer((incoming, response) => {
    const parts: Buffer[] = [];
    incoming
      .on('data', (part: Buffer) => parts.push(part))
      .on('end', () => {
        const bytes = Buffer.concat(parts);
        const isZipped = incoming.headers['content-encoding'] === 'gzip';
        const request = {
          method: incoming.method ?? '',
          url: incoming.url ?? '',
          headers: incoming.headers,
          body: (isZipped ? gunzipSync(bytes) : bytes).toString('utf8'),
        };
        requests.push(request);
        answer(request, response);
      });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const address = server.address();
  const bound = typeof address === 'object' && address !== null ? address.port : port;
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closed ??= new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
    return closed;
  };
  onTestFinished(close);
  return { url: `http://127.0.0.1:${bound}`, port: bound, requests, close };
}

export function answerWithJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}
