// Random tapes of facts: half of them are realistic (work, merge, deployments, a person), the others are noise. All are
// disturbed: facts are repeated, late or lost, with restarts in between and clocks that jump.

import type { DeployPolicy } from '../../workers/deploy-fields.ts';
import type { DeploymentState } from '../api.ts';
import type { DeployFact } from '../deploy-worker.ts';
import {
  accept,
  claimed,
  contains,
  deployment,
  merged,
  minute,
  type PlainFact,
  retry,
  time,
  verified,
} from './plain-facts.ts';

type Entry = { fact: DeployFact; restart: boolean };
export type Tape = { policy: DeployPolicy; entries: Entry[] };

/** From 0 to below 1. */
export type Random = () => number;

/** Small, fast and the same on every machine (mulberry32). */
export function seededRandom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function randomTape(random: Random): Tape {
  const policy = {
    ...verified,
    skipDeployVerification: random() < 0.1,
    acceptDescendants: random() < 0.75,
    timeoutSec: pick(random, [60, 1800, 7200]),
  };
  const kind = random();
  const facts = kind < 0.5 ? story(random) : kind < 0.9 ? noise(random) : hesitation(random);
  const entries = disturbed(random, onAClock(random, facts)).map(({ fact, at }, index) => ({
    fact: { ...fact, seq: index + 1, at },
    restart: random() < 0.2,
  }));
  return { policy, entries };
}

const starts = ['created', 'pending', 'queued', 'waiting', 'in_progress'] as const;
const ends = ['failure', 'failure', 'error', 'failure', 'success', 'inactive'] as const;
const states: readonly DeploymentState[] = [...starts, ...ends];
const shas = ['merge', 'merge', 'merge', 'child', 'grandchild', 'stranger'] as const;
const environments = [
  'production',
  'production',
  'production',
  'production',
  'staging',
  'Production',
] as const;
const work = ['researching', 'implementing', 'pr-created', 'merging'] as const;
const claims = [
  'implementing',
  'pr-created',
  'canceled',
  'failed',
  'stalled',
  'merged',
  'deploying',
  'deploy-failed',
  'done',
  'done',
] as const;

function story(random: Random): PlainFact[] {
  const facts = work.slice(Math.floor(random() * work.length)).map(claimed);
  if (random() < 0.1) facts.push(claimed('done'));
  facts.push(merged(random() < 0.1 ? null : 'merge'), merged());
  const last = Math.floor(random() * 7);
  for (let id = 1; id <= last; id++) {
    const sha = random() < 0.7 ? 'merge' : pick(random, shas);
    const environment = random() < 0.8 ? 'production' : pick(random, environments);
    if (sha === 'child' || sha === 'grandchild') facts.push(contains(sha));
    for (const state of [...starts.filter(() => random() < 0.4), pick(random, ends)])
      facts.push(deployment(id, state, sha, environment));
    if (random() < 0.15) facts.push(time);
    if (random() < 0.1) facts.push(claimed(pick(random, claims)));
    if (random() < 0.1) facts.push(retry);
    if (random() < 0.02) facts.push(accept);
  }
  return facts;
}

function noise(random: Random): PlainFact[] {
  return Array.from({ length: 1 + Math.floor(random() * 40) }, () => {
    const dice = random();
    if (dice < 0.06) return merged(pick(random, ['merge', 'merge', 'another', null]));
    if (dice < 0.2) return claimed(pick(random, claims));
    if (dice < 0.26) return contains(pick(random, ['child', 'grandchild']));
    if (dice < 0.32) return time;
    if (dice < 0.36) return retry;
    if (dice < 0.37) return accept;
    const id = 1 + Math.floor(random() * 8);
    return deployment(id, pick(random, states), pick(random, shas), pick(random, environments));
  });
}

/** Claims, cancellations and accepts, with few merges. */
function hesitation(random: Random): PlainFact[] {
  return Array.from({ length: 1 + Math.floor(random() * 20) }, () => {
    const dice = random();
    if (dice < 0.15) return merged();
    return dice < 0.2 ? accept : claimed(pick(random, claims));
  });
}

type Timed = { fact: PlainFact; at: string };

/** Usually a few minutes pass; sometimes the machine sleeps, or its clock is set back. */
function onAClock(random: Random, facts: PlainFact[]): Timed[] {
  let now = 0;
  return facts.map((fact) => {
    const dice = random();
    now += dice < 0.03 ? 600 * random() : dice < 0.06 ? -90 * random() : 4 * random();
    return { fact, at: minute(now) };
  });
}

function disturbed(random: Random, facts: Timed[]): Timed[] {
  const placed = facts.flatMap((timed, index) => {
    const late = (most: number) => ({ timed, position: index + (random() < 0.2 ? most * random() : 0) });
    if (random() < 0.03) return [];
    return random() < 0.15 ? [late(4), late(12)] : [late(4)];
  });
  return placed.toSorted((one, other) => one.position - other.position).map(({ timed }) => timed);
}

function pick<const Item>(random: Random, items: readonly Item[]): Item {
  return items[Math.floor(random() * items.length)] as Item;
}
