import { describe, expect, test } from 'vitest';
import { type LineFields, logged, moment } from '../../kernel/board/testing/lines.ts';
import { emptyBoard, foldLine } from '../board.ts';
import { claimUnseen, unseenClaims } from '../deploy/watched.ts';
import { isUnseenClaim } from '../pull-requests/own-pull-request.ts';
import { whyTicket } from '../why/why.ts';

const mine = { orchestrator: 'run-1', ticket: 'ENG-42' };
const signal = {
  ...mine,
  workerName: 'w',
  startedAt: moment(0),
  updatedAt: moment(0),
  repo: 'acme/web',
  branch: 'eng-42',
};
type Line = [string, LineFields];
const own = (event: string, detail: object = {}, more: LineFields = {}): Line => [
  event,
  { scope: mine, detail: { ...detail }, ...more },
];
const worker = (status: string, more: object = {}): Line =>
  own('orchestrator.worker.status_changed', { to: status, signal: { ...signal, status, ...more } });
const started = own('agent.session.started', { attempt: 1, agent: 'copilot', protocol: true });
const turn = own('agent.turn.started', { attempt: 1, turn: 2 });
const idle = own('agent.turn.ended', { attempt: 1, turn: 1, ok: true });
const ended = own('agent.session.ended', { attempt: 1 });
const died = own('orchestrator.worker.died');
const unseen = own('monitor.claim.unseen', { status: 'pr-created' }, { source: 'monitor' });
const opened = (scope: LineFields['scope']): Line => [
  'codehost.pr.opened',
  { scope: { repo: 'acme/web', pr: 7, ...scope }, detail: { state: 'open', draft: false, merged: false } },
];
const begun = [worker('implementing'), started];
const claims = [...begun, worker('pr-created')];

/** Lines to append follow directly, as the outbox does it. */
function fold(lines: readonly Line[]) {
  const board = emptyBoard();
  const put = (event: string, more: LineFields): void => {
    for (const effect of foldLine(board, logged(board.seq + 1, event, more)))
      if (effect.kind === 'append')
        put(effect.draft.event, { ...effect.draft, detail: { ...effect.draft.detail } });
  };
  for (const [event, more] of lines) put(event, more);
  return board;
}

const open = (lines: readonly Line[]): string[] =>
  [...fold(lines).attention.values()].map(({ reason }) => reason);

describe('a claimed pull request that was not seen', () => {
  test.each<[string, Line[], string[]]>([
    ['while the agent works', claims, []],
    ['the agent has ended', [...claims, ended], ['pr-unproven']],
    ['the agent ended before the claim was read', [...begun, ended, worker('pr-created')], ['pr-unproven']],
    ['it claims to merge, and has ended', [...begun, worker('merging'), ended], ['pr-unproven']],
    ['the process of another orchestrator has ended', [worker('pr-created'), died], ['pr-unproven']],
    [
      'a process that is about to be started again',
      [worker('pr-created'), own('orchestrator.worker.died', { willRevive: true })],
      [],
    ],
    ['idle, before a poll', [...claims, idle], []],
    ['idle, after a poll', [...claims, idle, unseen], ['pr-unproven']],
    [
      'it names a number that was not seen',
      [...begun, worker('pr-created', { pr: { number: 9 } }), ended],
      ['pr-unproven'],
    ],
    [
      'that number is of another',
      [...begun, worker('pr-created', { pr: { number: 9 } }), ended, opened({ ticket: 'ENG-42' })],
      ['pr-unproven'],
    ],
    ['seen by its branch', [...claims, ended, opened({ branch: 'eng-42' })], []],
    ['seen by its ticket', [...claims, ended, opened({ branch: 'fix', ticket: 'eng-42' })], []],
    ['seen before', [opened({ branch: 'eng-42' }), ...claims, ended], []],
    [
      'one of another ticket',
      [...claims, ended, opened({ branch: 'fix', ticket: 'ENG-7' })],
      ['pr-unproven'],
    ],
    [
      'the worker goes back to its work',
      [...claims, idle, unseen, worker('implementing')],
      ['agent-stopped'],
    ],
    ['the agent goes on', [...claims, idle, unseen, turn], []],
    [
      'the agent goes on, and the next poll finds none',
      [...claims, idle, unseen, turn, unseen],
      ['pr-unproven'],
    ],
    [
      'the agent is called back',
      [...claims, ended, own('orchestrator.worker.recalled', { reason: 'message' })],
      [],
    ],
    ['its file was deleted', [...claims, ended, own('orchestrator.worker.removed')], []],
    ['a helper says so', [...claims, idle, own('monitor.claim.unseen', {}, { source: 'cli' })], []],
    ['it claims to be done as well', [...claims, ended, worker('done')], ['done-unproven']],
    ['the work is open and the process is gone', [worker('implementing'), died], ['worker-dead']],
  ])('%s', (_what, lines, reasons) => expect(open(lines)).toEqual(reasons));

  test('why says so, with the fix, and that the agent has ended', () => {
    const board = fold([...claims, ended]);
    const answer = whyTicket(board, 'ENG-42', 0);
    expect(answer?.rule).toBe('The agent claims a pull request; none was seen.');
    expect(answer?.waitsFor).toContain('a person: svc agent send ENG-42');
    expect(answer?.unknown).toEqual([]);
    expect(answer?.facts.map(({ text }) => text)).toContain('The process is not running.');
    expect(board.attention.get('run-1/ENG-42/pr-unproven')).toMatchObject({
      severity: 'high',
      message: expect.stringContaining('none was seen, and its agent has ended'),
      remedy: 'svc agent send ENG-42',
    });
  });

  test('a process that is gone waits for a retry, which is the fix of its item', () => {
    const board = fold([worker('implementing'), died]);
    const fix = 'svc orchestrate retry run-1 ENG-42';
    expect(board.attention.get('run-1/ENG-42/worker-dead')?.remedy).toBe(fix);
    expect(whyTicket(board, 'ENG-42', 0)?.waitsFor).toBe(`a person: ${fix}`);
  });

  test('why waits for it before that, and an agent that talks is running', () => {
    const answer = whyTicket(fold(claims), 'ENG-42', 0);
    expect(answer?.waitsFor).toBe('its pull request to be seen on the code host');
    expect(answer?.unknown).toEqual([]);
    expect(answer?.facts.map(({ text }) => text)).toContain('The process is running.');
  });

  test('a poll reports each claim once, unless it was proven or changed meanwhile', () => {
    const board = fold([...claims, idle]);
    const [claim] = unseenClaims(board);
    if (claim === undefined) throw new Error('no claim');
    expect(claim).toMatchObject({ repo: 'acme/web', worker: 'run-1/ENG-42' });
    expect(claimUnseen(board, claim)).toMatchObject({ event: 'monitor.claim.unseen', scope: mine });
    expect(claimUnseen(fold([...claims, idle, unseen]), claim)).toBeUndefined();
    expect(claimUnseen(fold([...claims, opened({ branch: 'eng-42' })]), claim)).toBeUndefined();
    expect(claimUnseen(board, { ...claim, statusSeq: claim.statusSeq - 1 })).toBeUndefined();
    expect(unseenClaims(fold([...begun]))).toEqual([]);
    for (const one of board.workers.values()) expect(isUnseenClaim(board, one)).toBe(true);
  });
});
