// The minimum that any correct receiver must do, as the baseline for ingest.ts: read the body, verify the HMAC, parse
// the JSON, append a line of our size and shape, sync in groups, then answer.
// `node bare-receiver.ts <folder>`; writes its URL to <folder>/daemon.json.
import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { fdatasync, openSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { codehostSecret } from '../packages/testkit/src/daemon/start-daemon.ts';
import { tenKilobyteDeliveries } from './ten-kilobytes.ts';

const folder = process.argv[2] ?? '.';
const file = openSync(join(folder, 'lines.jsonl'), 'a');
const host = { id: randomUUID(), name: 'bench' };
/** The fields that ours would log from a payload: the mapping itself is not part of the minimum. */
const drafts = new Map(tenKilobyteDeliveries().map(({ type, draft }) => [type, draft]));

type Waiting = { line: string; response: ServerResponse; answer: string };
let queue: Waiting[] = [];
let running = false;
let seq = 0;

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => void chunks.push(chunk));
  request.on('end', () => receive(request, response, Buffer.concat(chunks)));
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  const announced = join(folder, 'daemon.json');
  writeFileSync(`${announced}.new`, JSON.stringify({ pid: process.pid, port }));
  renameSync(`${announced}.new`, announced);
});
process.on('SIGTERM', () => process.exit(0));

function receive(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
  const given = Buffer.from(String(request.headers['x-hub-signature-256']).slice('sha256='.length), 'hex');
  const wanted = createHmac('sha256', codehostSecret).update(body).digest();
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return end(response, 401, '{}');
  const payload: { repository?: { full_name?: string } } = JSON.parse(body.toString());
  const draft = drafts.get(String(request.headers['x-codehost-event']));
  if (draft === undefined) return end(response, 400, '{}');
  const id = randomUUID();
  seq += 1;
  const line = JSON.stringify({
    seq,
    ts: new Date().toISOString(),
    id,
    schemaVersion: 1,
    ...draft,
    host,
    scope: { ...draft.scope, repo: payload.repository?.full_name },
    deliveryId: request.headers['x-codehost-delivery'],
  });
  queue.push({ line, response, answer: JSON.stringify({ ok: true, event: draft.event, id }) });
  if (running) return;
  running = true;
  setImmediate(commit);
}

function commit(): void {
  const group = queue;
  queue = [];
  writeSync(file, Buffer.from(group.map(({ line }) => `${line}\n`).join('')));
  fdatasync(file, (error) => {
    if (error) throw error;
    for (const { response, answer } of group) end(response, 200, answer);
    if (queue.length > 0) commit();
    else running = false;
  });
}

function end(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(text),
  });
  response.end(text);
}
