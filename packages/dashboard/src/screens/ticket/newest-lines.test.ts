import type { EventLine } from 'svc-monitor/src/kernel/log/event-line.ts';
import { expect, test } from 'vitest';
import { newestLines } from './worker-events.tsx';

const line = (seq: number) => ({ seq }) as EventLine;

test('each event once, newest first, up to the limit', () => {
  const lines = newestLines([line(3), line(2), line(1)], [line(3), line(4)], 3);
  expect(lines.map(({ seq }) => seq)).toEqual([4, 3, 2]);
});
