// A month on a busy laptop as lines of the log: ten repositories, 40 to 100 workers a day, each from its ticket to
// production, with the pushes, checks, reviews and comments in between. The same seed gives the same month.
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { EventFields } from '../packages/monitor/src/kernel/log/event-line.ts';
import { createRandom, type Random } from '../packages/testkit/src/random.ts';
import { hexOf, type Subject } from './state-delivery-lines.ts';
import { workerLines } from './state-worker-lines.ts';

/** All lines of one past month. */
const START = Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() - 1, 1);
const MONTH_MS = 30 * 86_400_000;
const AT_ONCE = 30;
const REPOS = 10;
const PEOPLE = ['mira', 'jonas', 'adaeze', 'li', 'sofia'];

export type Tape = { lines: number; bytes: number; from: number; to: number; workers: number };

export function writeTape({ folder, lines, seed }: { folder: string; lines: number; seed: number }): Tape {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = openSync(join(folder, `${new Date(START).toISOString().slice(0, 7)}.jsonl`), 'w', 0o600);
  const random = createRandom(seed);
  const working = Array.from({ length: AT_ONCE }, () => null as Iterator<EventFields> | null);
  const step = MONTH_MS / lines;
  let time = START;
  let deployments = 40_000_000;
  const world = { now: () => time, nextDeployment: () => (deployments += 1) };
  let workers = 0;
  let bytes = 0;
  let batch: string[] = [];
  const flush = (): void => {
    bytes += writeSync(file, batch.join(''));
    batch = [];
  };

  function nextDraft(): EventFields {
    for (;;) {
      const slot = random.below(AT_ONCE);
      const next = working[slot]?.next();
      if (next?.done === false) return next.value;
      workers += 1;
      working[slot] = workerLines(subject(random, workers, time), random, world);
    }
  }

  for (let seq = 1; seq <= lines; seq += 1) {
    time = START + Math.floor(seq * step);
    const draft = seq === 1 ? requiresProof() : nextDraft();
    batch.push(`${JSON.stringify(toLine(draft, seq, time, random))}\n`);
    if (batch.length === 2_000) flush();
  }
  flush();
  closeSync(file);
  return { lines, bytes, from: START, to: time, workers };
}

/** The project requires proof for all of its repositories. */
function requiresProof(): EventFields {
  const policy = {
    timeoutSec: 1800,
    productionEnvironment: 'production',
    stagingEnvironment: 'staging',
    skipDeployVerification: false,
    acceptDescendants: true,
  };
  const deploy = Object.fromEntries(Array.from({ length: REPOS }, (_, repo) => [nameOf(repo), policy]));
  const detail = { project: '/src/acme', served: true, keys: [], deploy, others: 'default' };
  return { event: 'monitor.config.applied', source: 'monitor', via: 'local', scope: {}, detail };
}

function nameOf(repo: number): string {
  return `acme/service-${repo}`;
}

function subject(random: Random, number: number, time: number): Subject {
  const repo = random.below(REPOS);
  return {
    repo: nameOf(repo),
    hasPreviews: repo < 3,
    pr: 1_000 + number,
    ticket: `ABC-${number}`,
    orchestrator: `run-${new Date(time).toISOString().slice(0, 10)}-${random.below(2)}`,
    branch: `agent/abc-${number}-carry-the-order-number-through`,
    author: random.pick(PEOPLE),
    reviewer: random.pick(PEOPLE),
  };
}

function toLine(draft: EventFields, seq: number, time: number, random: Random) {
  const { event, source, via, scope, actor, detail } = draft;
  const isDelivery = source !== 'orchestrator' && source !== 'monitor';
  return {
    seq,
    ts: new Date(time).toISOString(),
    id: `${hexOf(random, 8)}-0000-4000-8000-${String(seq).padStart(12, '0')}`,
    schemaVersion: 1,
    event,
    source,
    via,
    ...(isDelivery && {
      deliveryId: `${hexOf(random, 8)}-${hexOf(random, 4)}-11f0-${hexOf(random, 4)}-${String(seq).padStart(12, '0')}`,
      occurredAt: new Date(time - 1_000 - random.below(2_000)).toISOString(),
      relay: { channel: 'https://relay.example/abcdefgh', id: String(seq) },
    }),
    host: { id: '6a1f0c52-1f4e-4b57-9d53-0a1b2c3d4e5f', name: 'laptop' },
    scope,
    ...(actor && { actor }),
    detail,
  };
}
