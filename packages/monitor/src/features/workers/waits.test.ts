import { expect, test } from 'vitest';
import { logged, request } from '../../kernel/board/testing/lines.ts';
import { boardView } from '../board/board-view.ts';
import { emptyBoard, foldLine, packBoard, unpackBoard } from '../board.ts';
import { waitHours } from '../runs/run-view.ts';
import { msWaited, msWaitedToday, neverWaited, waitedAfter } from '../workers/waits.ts';

const HOUR = 3_600_000;
const scope = { orchestrator: 'run-1', ticket: 'ENG-1' };
const signal = { ...scope, workerName: 'w', status: 'implementing', startedAt: 'x', updatedAt: 'x' };
type Step = [time: string, event: string, detail?: object];

const begun: Step[] = [
  ['09:00', 'orchestrator.worker.status_changed', { to: 'implementing', signal }],
  ['09:00', 'agent.session.started', { attempt: 1, agent: 'codex', protocol: true }],
  ['09:00', 'agent.turn.started', { attempt: 1, turn: 1 }],
];
const asked = (time: string): Step => [time, 'agent.request.opened', { attempt: 1, request }];
const answered = (time: string): Step => [
  time,
  'agent.request.answered',
  { attempt: 1, request: '1', running: true },
];

/** `restartAt`: before this line the board is stored and loaded again. */
function after(steps: readonly Step[], restartAt = -1) {
  let board = emptyBoard();
  for (const [index, [time, event, detail = {}]] of steps.entries()) {
    if (index === restartAt) board = unpackBoard(JSON.parse(JSON.stringify(packBoard(board))));
    const ts = `2026-01-02T${time}:00.000Z`;
    foldLine(board, logged(index + 1, event, { ts, scope, detail: { ...detail } }));
  }
  return board;
}

const hoursAt = (time: string, board: ReturnType<typeof after>) =>
  waitHours({
    workers: board.workers.values(),
    pullRequestOf: () => undefined,
    now: `2026-01-02T${time}:00.000Z`,
  });

test.each<[string, Step[], number, number]>([
  ['it never asked', begun, 0, 0],
  ['it waits now', [...begun, asked('11:00')], 1, 1],
  ['it was answered', [...begun, asked('10:00'), answered('10:30')], 0.5, 0],
  ['twice', [...begun, asked('10:00'), answered('10:30'), asked('11:00'), answered('11:15')], 0.75, 0],
  [
    'it stopped before its work was done, and went on',
    [
      ...begun,
      ['10:00', 'agent.turn.ended', { attempt: 1, turn: 1, ok: true }],
      ['11:00', 'agent.turn.started', { attempt: 1, turn: 2 }],
    ],
    1,
    0,
  ],
  [
    'it ended while it waited',
    [...begun, asked('10:00'), ['10:15', 'agent.session.ended', { attempt: 1 }]],
    0.25,
    0,
  ],
  ['its file was deleted', [...begun, asked('10:00'), ['10:45', 'orchestrator.worker.removed']], 0.75, 0],
  [
    'the next attempt adds to it',
    [
      ...begun,
      asked('10:00'),
      answered('10:30'),
      ['10:40', 'agent.session.started', { attempt: 2, agent: 'codex', protocol: true }],
      ['11:00', 'agent.request.opened', { attempt: 2, request }],
    ],
    1.5,
    1,
  ],
])('hours that an agent waited for people: %s', (_what, steps, hours, waiting) => {
  const whole = after(steps);
  expect(hoursAt('12:00', whole)).toEqual({ hours, waiting });
  for (let restartAt = 1; restartAt < steps.length; restartAt += 1)
    expect(hoursAt('12:00', after(steps, restartAt)), `restart at ${restartAt}`).toEqual({ hours, waiting });
  const shown = boardView(whole).workers[0]?.waited;
  expect(shown === undefined ? 0 : msWaited(shown, Date.parse('2026-01-02T12:00:00.000Z')) / HOUR).toBe(
    hours,
  );
});

const asks = ['agent-needs-input'];
const days = (count: number) => new Date(Date.parse('2026-01-02T12:00:00.000Z') + count * 24 * HOUR);

test('a day counts its own part of a wait', () => {
  const waited = waitedAfter(
    waitedAfter(neverWaited, asks, days(0).toISOString()),
    [],
    days(2).toISOString(),
  );
  expect(waited.days.map(({ day, ms }) => [day, ms / HOUR])).toEqual([
    ['2026-01-02', 12],
    ['2026-01-03', 24],
    ['2026-01-04', 12],
  ]);
  expect(msWaitedToday(waited, days(1).getTime()) / HOUR).toBe(24);
  expect(msWaitedToday(waited, days(5).getTime())).toBe(0);
});

test('a wait that has not ended counts since midnight, added to those that have', () => {
  const before = { since: days(-1).toISOString(), ms: HOUR, days: [{ day: '2026-01-02', ms: HOUR }] };
  expect(msWaitedToday(before, days(0).getTime()) / HOUR).toBe(13);
  expect(msWaited(before, days(0).getTime()) / HOUR).toBe(25);
});

test('however long and often it waits, only the newest days are kept', () => {
  let waited = waitedAfter(
    waitedAfter(neverWaited, asks, days(-900).toISOString()),
    [],
    days(-100).toISOString(),
  );
  for (let day = -50; day < 0; day += 1)
    waited = waitedAfter(
      waitedAfter(waited, asks, days(day).toISOString()),
      [],
      days(day + 0.1).toISOString(),
    );
  expect(waited.days).toHaveLength(7);
  expect(waited.days.at(-1)?.day).toBe('2026-01-01');
  expect(waited.ms / HOUR).toBeCloseTo(800 * 24 + 50 * 2.4);
});

test('a clock that goes backwards adds nothing', () => {
  const waited = waitedAfter(
    waitedAfter(neverWaited, asks, days(1).toISOString()),
    [],
    days(0).toISOString(),
  );
  expect(waited).toEqual({ since: null, ms: 0, days: [] });
});
