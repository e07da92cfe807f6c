import { expect, test } from 'vitest';
import { judgeResources, type Sample } from './resources.ts';

const bounds = { mostMb: 500, keptMb: 50, mbPerMinute: 5, handlesPerMinute: 5 };
const start: Sample = { seconds: 0, rssMb: 150, handles: 40, kinds: { socket: 3, 'svc.db': 1 } };

/** Ten minutes, a sample each second; every fifth has a peak. */
function minutes(change: (minute: number) => Partial<Sample> = () => ({})): Sample[] {
  return Array.from({ length: 600 }, (_, seconds) => {
    const peak = seconds % 5 === 0 ? 120 : 0;
    const more = change(seconds / 60);
    return {
      seconds,
      rssMb: 200 + peak + (more.rssMb ?? 0),
      handles: 90 + peak + (more.handles ?? 0),
      kinds: {},
    };
  });
}

test('temporary peaks and a return to the start pass', () => {
  const verdict = judgeResources({ start, under: minutes(), after: { ...start, rssMb: 190 } }, bounds);
  expect(verdict).toMatchObject({ mostMb: 320, mostHandles: 210, problems: [] });
  expect(Math.abs(verdict.mbPerMinute)).toBeLessThan(1);
});

test('memory that grows only during the warm-up passes', () => {
  const under = minutes((minute) => ({ rssMb: Math.min(minute, 4) * 30 }));
  expect(judgeResources({ start, under, after: start }, bounds).problems).toEqual([]);
});

test.each<[string, Sample[], Sample, RegExp]>([
  [
    'memory rises',
    minutes((minute) => ({ rssMb: minute * 10 })),
    start,
    /^memory grows by 9\.\d MB a minute/,
  ],
  ['handles rise', minutes((minute) => ({ handles: minute * 8 })), start, /^handles grow by 7\.\d a minute/],
  ['memory is too much', minutes(() => ({ rssMb: 300 })), start, /^memory reached 620 MB/],
  ['memory stays', minutes(), { ...start, rssMb: 201 }, /^memory is 201 MB after the load/],
  [
    'one handle stays',
    minutes(),
    { ...start, handles: 41, kinds: { socket: 4, 'svc.db': 2 } },
    /^handles that stay open after the load: 1 socket$/,
  ],
])('reported: %s', (_, under, after, words) => {
  const { problems } = judgeResources({ start, under, after }, bounds);
  expect(problems).toEqual([expect.stringMatching(words)]);
});
