import type { EventDraft } from '@svc/core';
import { sampleBoard } from '@svc/testkit';
import { expect, test } from 'vitest';
import { say } from './state-access.ts';

const draft: EventDraft = {
  event: 'comms.attention_resolved',
  source: 'cli',
  via: 'local',
  scope: {},
  detail: { reason: 'worker-dead' },
};
const state = (reached: () => Promise<void>) => ({
  board: () => sampleBoard(),
  progress: () => ({ ready: true, seq: 1, logSeq: 1 }),
  reached,
});

test('the seq of the line, once the board has it', async () => {
  const append = async () => ({ seq: 7 });
  expect(await say({ state: state(async () => undefined), append }, draft)).toBe(7);
});

test('a board that does not come that far in time: the word is written down, and that is said', async () => {
  const append = async () => ({ seq: 7 });
  await expect(
    say({ state: state(() => new Promise(() => undefined)), append }, draft, 10),
  ).rejects.toMatchObject({
    code: 'state-not-ready',
    message: 'It is written down as line 7, but the state has not come that far.',
  });
});

test('a line that could not be written is the failure of the log', async () => {
  const append = () => Promise.reject(new Error('disk full'));
  await expect(say({ state: state(async () => undefined), append }, draft)).rejects.toThrow('disk full');
});
