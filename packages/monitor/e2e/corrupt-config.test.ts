// Random corruptions of a project file that requires proof of deploys, each followed by a signed merge: none may be
// accepted as done. `npm run model:config` does 2,000 of them.
import { createHmac, randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  codehostExample,
  createRandom,
  type JsonObject,
  patched,
  storyRepo,
  temporaryFolder,
  until,
} from '@svc/testkit';
import { expect, test } from 'vitest';
import type { BoardView } from '../src/features/board/api.ts';
import { resolveConfig } from '../src/features/configure.ts';
import { parseJson } from '../src/kernel/config/read-json.ts';
import { startInProcess } from './in-process-daemon.ts';

const SECRET = 'e'.repeat(64);
const CORRUPTIONS = Number(process.env['CORRUPTIONS'] ?? 150);
const SEED = 20_261_115;

const valid = {
  svc: {
    projectKey: 'demo',
    project: { ticketPrefix: 'ENG' },
    tracker: { stateMap: { research: 'In Progress', done: null } },
    orchestration: { maxParallel: 2, hooks: { setup: ['true'] } },
    deploy: {
      [storyRepo]: { skipDeployVerification: false, timeoutSec: 3600, productionEnvironment: 'live' },
    },
  },
};
const text = JSON.stringify(valid, null, 2);

test(`of ${CORRUPTIONS} corrupted files not one makes a merge done`, async () => {
  const random = createRandom(SEED);
  const home = temporaryFolder();
  const file = join(home, '.svc/config.json');
  const write = (content: string | Buffer): void => writeFileSync(file, content);
  mkdirSync(join(home, '.svc'));
  write(text);
  const workers = join(home, 'svc/runs/run-1/workers');
  mkdirSync(workers, { recursive: true });
  for (let number = 1; number <= CORRUPTIONS; number += 1)
    writeFileSync(join(workers, `ENG-${number}.json`), JSON.stringify(signalOf(number)));
  const daemon = await startInProcess({ home, environment: { SVC_WEBHOOK_SECRET: SECRET } });
  const board = async () => (await daemon.get('/api/board?all=1')).body as unknown as BoardView;
  await until(async () => (await board()).workers.length === CORRUPTIONS);
  // Starting a run makes the daemon read its files now.
  const refresh = async () => {
    const asked = { project: '/none', tickets: ['ENG-1'] };
    const headers = { 'Content-Type': 'application/json' };
    const { body } = await daemon.post('/api/runs', JSON.stringify(asked), headers);
    expect(body).toMatchObject({ code: 'unknown-project' });
  };

  let others = 0;
  const merged: number[] = [];
  const contents = new Map<number, string>();
  for (let number = 1; number <= CORRUPTIONS; number += 1) {
    const content = corrupt(random);
    if (isAnotherConfiguration(content)) {
      others += 1;
      continue;
    }
    write(content);
    await refresh();
    await deliverMerge(daemon.post, number);
    merged.push(number);
    contents.set(number, content.toString('utf8'));
    write(text);
    await refresh();
  }
  const statuses = await until(async () => {
    const known = new Map(
      (await board()).workers.map(({ ticket, merge, status }) => [ticket, { merge, status }]),
    );
    const found = merged.map((number) => known.get(`ENG-${number}`));
    return found.every((worker) => worker?.merge) ? found.map((worker) => worker?.status) : undefined;
  });
  console.log(`${merged.length} corrupted files, ${others} that mean something else: ${count(statuses)}`);
  const wrong = merged.filter((_, index) => statuses[index] !== 'merged');
  expect(wrong.map((number) => contents.get(number))).toEqual([]);
  expect(merged.length).toBeGreaterThan(CORRUPTIONS / 2);
});

/** Bytes, truncation, conflict markers, types. */
function corrupt(random: ReturnType<typeof createRandom>): Buffer {
  const bytes = Buffer.from(text);
  const at = random.below(bytes.length);
  switch (random.below(6)) {
    case 0:
      bytes[at] = random.below(256);
      return bytes;
    case 1:
      for (let index = at; index < Math.min(bytes.length, at + 1 + random.below(12)); index += 1)
        bytes[index] = 33 + random.below(94);
      return bytes;
    case 2:
      return bytes.subarray(0, at);
    case 3: {
      const lines = text.split('\n');
      lines.splice(random.below(lines.length), 0, random.pick(['<<<<<<< HEAD', '=======', '>>>>>>> theirs']));
      return Buffer.from(lines.join('\n'));
    }
    case 4:
      return Buffer.concat([
        bytes.subarray(0, at),
        bytes.subarray(Math.min(bytes.length, at + 1 + random.below(20))),
      ]);
    default:
      return Buffer.from(JSON.stringify(withOtherType(valid, random), null, 2));
  }
}

function withOtherType(tree: JsonObject, random: ReturnType<typeof createRandom>): JsonObject {
  const copy = structuredClone(tree);
  const places: [JsonObject, string][] = [];
  const visit = (node: JsonObject): void => {
    for (const [key, value] of Object.entries(node)) {
      places.push([node, key]);
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) visit(value as JsonObject);
    }
  };
  visit(copy);
  const [node, key] = random.pick(places);
  node[key] = random.pick([null, 0, -1, 'x', '', [], ['x'], 'false', 1.5, { a: 1 }]);
  return copy;
}

/** A valid file without any problem: a different configuration, not a corruption. */
function isAnotherConfiguration(content: Buffer): boolean {
  const read = parseJson('file', content.toString('utf8'));
  if (read.state !== 'read') return false;
  const layers = ['project'] as const;
  const file = { path: 'file', layers, reads: layers, data: read.data, lineOf: () => undefined };
  return resolveConfig([file], {}).problems.length === 0;
}

function signalOf(number: number): object {
  const now = new Date().toISOString();
  return {
    ticket: `ENG-${number}`,
    orchestrator: 'run-1',
    workerName: `run-1-${number}`,
    status: 'implementing',
    phase: 1,
    startedAt: now,
    updatedAt: now,
    repo: storyRepo,
    branch: `eng-${number}`,
    pr: { number },
  };
}

async function deliverMerge(
  post: (path: string, body: string, headers: Record<string, string>) => Promise<{ status: number }>,
  number: number,
): Promise<void> {
  const merge = codehostExample('pull_request merged');
  const at = new Date().toISOString();
  const pull = merge.payload['pull_request'] as JsonObject;
  const own = {
    number,
    merged_at: at,
    closed_at: at,
    head: { ...(pull['head'] as JsonObject), ref: `eng-${number}` },
  };
  const { type, payload } = patched(merge, 'merged', { number, pull_request: { ...pull, ...own } });
  const body = JSON.stringify(payload);
  const { status } = await post('/api/webhook', body, {
    'Content-Type': 'application/json',
    'x-codehost-event': type,
    'x-codehost-delivery': randomUUID(),
    'x-hub-signature-256': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`,
  });
  expect(status).toBe(200);
}

function count(statuses: readonly (string | undefined)[]): string {
  const groups = Object.entries(Object.groupBy(statuses, (status) => String(status)));
  return groups.map(([status, all]) => `${status} ${all?.length}`).join(', ');
}
