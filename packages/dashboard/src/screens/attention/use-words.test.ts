import { sampleAttention } from '@svc/testkit';
import { afterEach, expect, test, vi } from 'vitest';
import { foreseen, sendWord, type Word } from './use-words.ts';

afterEach(() => vi.unstubAllGlobals());

const item = sampleAttention();
const now = Date.UTC(2026, 0, 2, 12);
const at = '2026-01-02T12:00:00.000Z';

test.each<[Word, object | null, object]>([
  [{ kind: 'ack' }, { acknowledged: { by: 'you', at } }, {}],
  [{ kind: 'resolve' }, null, {}],
  [
    { kind: 'snooze', for: '30m', until: now + 1_800_000 },
    { snoozedUntil: '2026-01-02T12:30:00.000Z' },
    { for: '30m' },
  ],
  [
    { kind: 'hand-over', to: 'mira', note: '' },
    { handedOver: { to: 'mira', by: 'you', at, note: null } },
    { to: 'mira' },
  ],
  [
    { kind: 'hand-over', to: 'mira', note: 'yours' },
    { handedOver: { to: 'mira', by: 'you', at, note: 'yours' } },
    { to: 'mira', note: 'yours' },
  ],
])('%j', async (word, change, body) => {
  expect(foreseen(item, word, now)).toEqual(change === null ? null : { ...item, ...change });
  const asked = vi.fn<typeof fetch>(async () => new Response('{}'));
  vi.stubGlobal('fetch', asked);
  await sendWord(item.id, word, { by: 'kim' });
  expect(asked).toHaveBeenCalledExactlyOnceWith(
    `/api/attention/${word.kind}`,
    expect.objectContaining({ method: 'POST', body: JSON.stringify({ id: item.id, ...body, by: 'kim' }) }),
  );
});
