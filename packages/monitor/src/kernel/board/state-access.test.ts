import { sampleBoard } from '@svc/testkit';
import { expect, test } from 'vitest';
import type { EventDraft } from '../log/event-line.ts';
import { appendAndWait } from './state-access.ts';

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

test('the seq of the event, once the board has it', async () => {
  const append = async () => ({ seq: 7 });
  expect(await appendAndWait({ state: state(async () => undefined), append }, draft)).toBe(7);
});

test('a board that does not catch up in time: the event is saved, and the failure reports that', async () => {
  const append = async () => ({ seq: 7 });
  await expect(
    appendAndWait({ state: state(() => new Promise(() => undefined)), append }, draft, 10),
  ).rejects.toMatchObject({
    code: 'state-not-ready',
    message: 'Saved as event 7, but the board has not caught up yet.',
  });
});

test('an event that could not be written is a failure of the log', async () => {
  const append = () => Promise.reject(new Error('disk full'));
  await expect(appendAndWait({ state: state(async () => undefined), append }, draft)).rejects.toThrow(
    'disk full',
  );
});
