import { sampleAttention } from '@svc/testkit';
import { expect, test } from 'vitest';
import { foreseen, requestOf, type Word } from './use-words.ts';

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
])('%j', (word, change, body) => {
  expect(foreseen(item, word, now)).toEqual(change === null ? null : { ...item, ...change });
  expect(requestOf(item.id, word)).toEqual({
    url: `/api/attention/${word.kind}`,
    body: { id: item.id, ...body },
  });
});
