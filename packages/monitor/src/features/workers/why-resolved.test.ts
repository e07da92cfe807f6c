import { describe, expect, test } from 'vitest';
import { type LineFields, logged, moment, request } from '../../kernel/board/testing/lines.ts';
import { emptyBoard, foldLine } from '../board.ts';

const mine = { orchestrator: 'run-1', ticket: 'ENG-42' };
const signal = {
  ...mine,
  workerName: 'w',
  startedAt: moment(0),
  updatedAt: moment(0),
  repo: 'acme/web',
  branch: 'eng-42',
};

type Line = [event: string, more: LineFields];
const own = (event: string, detail: object = {}, more: LineFields = {}): Line => [
  event,
  { scope: mine, detail: { ...detail }, ...more },
];
const worker = (status: string): Line =>
  own('orchestrator.worker.status_changed', { to: status, signal: { ...signal, status } });
const pull = (action: string, detail: object = {}): Line => [
  `codehost.pr.${action}`,
  {
    scope: { repo: 'acme/web', pr: 7, branch: 'eng-42' },
    detail: { state: 'open', draft: false, ...detail },
  },
];
const asked = own('agent.request.opened', { attempt: 1, request });
const answered = (detail: object): Line =>
  own('agent.request.answered', { attempt: 1, request: '1', running: true, ...detail });
const begun = [
  worker('implementing'),
  own('agent.session.started', { attempt: 1, agent: 'codex', protocol: true }),
];
const waiting = [...begun, own('agent.turn.started', { attempt: 1, turn: 1 }), asked];
const stopped = [...begun, own('agent.turn.ended', { attempt: 1, turn: 1, ok: true })];
const died = own('orchestrator.worker.died');

/** Reason and message of each item that svc resolved; the lines that it appends follow directly. */
function resolvedIn(lines: readonly Line[]): string[] {
  const board = emptyBoard();
  const found: string[] = [];
  const put = (event: string, more: LineFields): void => {
    if (event === 'comms.attention_resolved')
      found.push(`${String(more.detail?.['reason'])} ${String(more.detail?.['message'])}`);
    for (const effect of foldLine(board, logged(board.seq + 1, event, more)))
      if (effect.kind === 'append')
        put(effect.draft.event, { ...effect.draft, detail: { ...effect.draft.detail } });
  };
  for (const [event, more] of lines) put(event, more);
  return found;
}

describe('why an item of a ticket is resolved', () => {
  const permission = 'agent-needs-permission Resolved: ';
  test.each<[string, Line[], string[]]>([
    [
      'a person answered',
      [...waiting, answered({ answer: 'allow_once', by: 'kim' })],
      [`${permission}kim answered it`],
    ],
    ['nobody is named', [...waiting, answered({ answer: 'allow_once' })], [`${permission}it was answered`]],
    [
      'the agent took it back',
      [...waiting, answered({ answer: 'withdrawn' })],
      [`${permission}the agent withdrew its request`],
    ],
    [
      'a person stopped the agent',
      [...waiting, answered({ answer: 'cancelled', by: 'kim' })],
      [`${permission}kim stopped the agent`],
    ],
    [
      'the agent is gone',
      [...waiting, own('agent.session.ended', { attempt: 1 })],
      [`${permission}the agent has ended`],
    ],
    [
      'its file is gone',
      [...waiting, own('orchestrator.worker.removed')],
      [`${permission}its status file was deleted, so svc no longer tracks it`],
    ],
    [
      'it goes on after a message',
      [...stopped, own('agent.turn.started', { attempt: 1, turn: 2 })],
      ['agent-stopped Resolved: the agent goes on'],
    ],
    [
      'its work went on',
      [...stopped, worker('merging')],
      ['agent-stopped Resolved: its status is now merging'],
    ],
    [
      'it was canceled',
      [...stopped, worker('canceled')],
      ['agent-stopped Resolved: the ticket was canceled'],
    ],
    [
      'a new process',
      [worker('implementing'), died, own('orchestrator.worker.revived')],
      ['worker-dead Resolved: its process is running'],
    ],
    [
      'a person started it again',
      [worker('implementing'), died, own('orchestrator.worker.retried', { by: 'kim' }, { source: 'cli' })],
      ['worker-dead Resolved: kim started the ticket again'],
    ],
    [
      'its file can be read again',
      [
        worker('planning'),
        own('orchestrator.worker.corrupt', { path: '/x', problem: 'not JSON' }),
        worker('planning'),
      ],
      ['signal-corrupt Resolved: its status file can be read again'],
    ],
    [
      'its pull request was seen',
      [worker('pr-created'), died, pull('opened')],
      ['pr-unproven Resolved: its pull request was opened'],
    ],
    [
      'its pull request was opened again',
      [worker('pr-created'), pull('opened'), pull('closed', { state: 'closed' }), pull('reopened')],
      ['pr-closed Resolved: its pull request was opened again'],
    ],
    [
      'what failed was filed',
      [
        worker('merging'),
        own('orchestrator.verification.failed', { summary: 'no' }),
        own('orchestrator.verification.remediation_filed', { destination: 'tracker', filedAs: 'ENG-50' }),
      ],
      ['verification-failed Resolved: it was filed as ENG-50'],
    ],
  ])('%s', (_what, lines, resolved) => expect(resolvedIn(lines)).toEqual(resolved));
});

describe('why the item of a session that a person started is resolved', () => {
  const session = (state: string): Line => [
    `session.${state}`,
    {
      source: 'monitor',
      scope: { session: 'claude/1' },
      detail: { agent: 'claude', folder: '/web', known: 'hook' },
    },
  ];
  test.each([
    ['running', 'the agent goes on'],
    ['idle', 'the agent has ended its turn'],
    ['ended', 'the session has ended'],
    ['unknown', 'the session no longer reports what it does'],
    ['needs_input', 'the agent asks for something else'],
  ])('%s', (state, words) =>
    expect(resolvedIn([session('needs_permission'), session(state)])).toEqual([
      `agent-needs-permission Resolved: ${words}`,
    ]),
  );
});
