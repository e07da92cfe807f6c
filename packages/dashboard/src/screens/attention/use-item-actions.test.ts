import { sampleAttention } from '@svc/testkit';
import { afterEach, expect, test, vi } from 'vitest';
import { type ItemAction, predicted, sendAction } from './use-item-actions.ts';

afterEach(() => vi.unstubAllGlobals());

const item = sampleAttention();
const now = Date.UTC(2026, 0, 2, 12);
const at = '2026-01-02T12:00:00.000Z';

test.each<[ItemAction, object | null, object]>([
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
])('%j', async (action, change, body) => {
  expect(predicted(item, action, now)).toEqual(change === null ? null : { ...item, ...change });
  const request = vi.fn<typeof fetch>(async () => new Response('{}'));
  vi.stubGlobal('fetch', request);
  await sendAction(item.id, action, { by: 'kim' });
  expect(request).toHaveBeenCalledExactlyOnceWith(
    `/api/attention/${action.kind}`,
    expect.objectContaining({ method: 'POST', body: JSON.stringify({ id: item.id, ...body, by: 'kim' }) }),
  );
});
