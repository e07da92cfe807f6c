import { createRandom } from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import { firstPace, pageByProbes } from './page-by-probes.ts';

/** A stream that has the channel's messages at these sequences; each answer may be of a replica that is behind. */
function streamOf(sequences: readonly number[], newest: () => number = () => Number.POSITIVE_INFINITY) {
  let requests = 0;
  const probe = async (from: number) => {
    requests += 1;
    const limit = newest();
    const seq = sequences.find((each) => each >= from && each <= limit);
    return seq === undefined ? undefined : { seq, subject: 'x', data: new Uint8Array(10), check: `c${seq}` };
  };
  return { probe, requests: () => requests };
}

async function readAll(probe: ReturnType<typeof streamOf>['probe'], enough: number) {
  const pace = firstPace();
  const read: number[] = [];
  let pages = 0;
  while (read.length < enough && pages < 10_000) {
    pages += 1;
    const page = await pageByProbes(probe, read.at(-1) ?? 0, pace);
    read.push(...page.messages.map(({ seq }) => seq));
  }
  return { read, pages };
}

describe('every message once and in order, however they lie', () => {
  const random = createRandom(7);
  const layouts: Record<string, number[]> = {
    dense: Array.from({ length: 500 }, (_, at) => at + 1),
    'one of ten': Array.from({ length: 500 }, (_, at) => at * 10 + 3),
    irregular: [],
    'long pauses, then bursts': [],
  };
  for (let seq = 1, at = 0; at < 500; at += 1) layouts['irregular']?.push((seq += 1 + random.below(20)));
  for (let seq = 1, at = 0; at < 500; at += 1)
    layouts['long pauses, then bursts']?.push((seq += random.chance(0.05) ? 3000 : 1));

  test.each(Object.entries(layouts))('%s', async (_, sequences) => {
    const { probe, requests } = streamOf(sequences);
    const { read, pages } = await readAll(probe, sequences.length);
    expect(read).toEqual(sequences);
    expect(pages).toBeLessThan(sequences.length / 3);
    expect(requests()).toBeLessThan(sequences.length * 5);
  });

  test.each(Object.entries(layouts))('%s, from replicas that are behind', async (_, sequences) => {
    const last = sequences.at(-1) ?? 0;
    const { probe } = streamOf(sequences, () => (random.chance(0.3) ? random.below(last) : last));
    const { read } = await readAll(probe, sequences.length);
    expect(read).toEqual(sequences);
  });
});

test('says that there is no more only when it knows', async () => {
  const { probe } = streamOf([2, 3]);
  const page = await pageByProbes(probe, 1, { ahead: 2, apart: 2 });
  expect(page.messages.map(({ seq }) => seq)).toEqual([2]);
  expect(page.end).toBe(false);
  expect(await pageByProbes(probe, 3, { ahead: 2, apart: 2 })).toMatchObject({ messages: [], end: true });
});

test('says whether the message at the cursor is still there', async () => {
  const { probe } = streamOf([5, 8]);
  expect(await pageByProbes(probe, 5, firstPace())).toMatchObject({ anchor: 'c5', end: false });
  expect(await pageByProbes(probe, 4, firstPace())).toMatchObject({ anchor: null });
  expect(await pageByProbes(probe, 8, firstPace())).toMatchObject({
    anchor: 'c8',
    messages: [],
    end: true,
  });
});
