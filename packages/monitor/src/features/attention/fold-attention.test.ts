import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type LineFields, logged } from '../../kernel/board/testing/lines.ts';
import { emptyBoard, foldLine, packBoard, unpackBoard } from '../board.ts';
import { causeStands } from '../tickets/needs.ts';

const mine = { orchestrator: 'run-1', ticket: 'ENG-1' };
const about = { reason: 'question', by: 'kim' };
const id = 'run-1/ENG-1/question';

function world() {
  const board = emptyBoard();
  const fold = (event: string, more: LineFields = {}): number => {
    foldLine(board, logged(board.seq + 1, event, { scope: mine, ...more }));
    return board.seq;
  };
  const raise = (): number =>
    fold('comms.attention', {
      source: 'monitor',
      detail: { reason: 'question', message: 'Which key?', severity: 'high' },
    });
  const act = (event: string, detail: object = {}): number =>
    fold(`comms.attention_${event}`, { source: 'cli', detail: { ...about, ...detail } });
  const item = () => board.attention.get(id);
  return { board, fold, raise, act, item };
}

const actions: [string, object, object | undefined][] = [
  ['acknowledged', {}, { acknowledged: { by: 'kim' } }],
  ['snoozed', { until: '2026-01-03T00:00:00.000Z' }, { snoozedUntil: '2026-01-03T00:00:00.000Z' }],
  ['handed_over', { to: 'mira' }, { handedOver: { to: 'mira', by: 'kim' } }],
  ['resolved', {}, undefined],
];

describe('undo', () => {
  test.each(actions)('%s: the item is as before', (action, detail, after) => {
    const { raise, act, item, board } = world();
    raise();
    const before = item();
    const line = act(action, detail);
    if (after === undefined) expect(item()).toBeUndefined();
    else expect(item()).toMatchObject(after);
    act('undone', { line });
    expect(item()).toEqual(before);
    expect(board.undoable.size).toBe(0);
  });

  test.each(actions)('%s: not with the line of another action, and not twice', (action, detail) => {
    const { raise, act, item } = world();
    raise();
    const line = act(action, detail);
    const after = item();
    act('undone', { line: line - 1 });
    expect(item()).toEqual(after);
    act('undone', { line });
    const again = act(action, detail);
    act('undone', { line });
    expect(item()).toEqual(action === 'resolved' ? undefined : item());
    act('undone', { line: again });
    act('undone', { line: again });
    expect(item()).toMatchObject({ acknowledged: null, snoozedUntil: null, handedOver: null });
  });

  test('only the last action is undone, and only what it changed', () => {
    const { raise, act, item } = world();
    raise();
    act('acknowledged');
    const line = act('handed_over', { to: 'mira' });
    raise();
    act('undone', { line });
    expect(item()).toMatchObject({ acknowledged: { by: 'kim' }, handedOver: null, times: 2 });
  });

  test.each([
    ['raised again after it was resolved', (): string[] => ['resolved', 'raise'], { times: 1 }],
    ['resolved by svc after it was acknowledged', (): string[] => ['acknowledged', 'svc'], undefined],
  ])('%s: there is nothing to undo', (_what, steps, after) => {
    const { raise, act, item, fold } = world();
    raise();
    let line = 0;
    for (const step of steps())
      if (step === 'raise') raise();
      else if (step === 'svc')
        fold('comms.attention_resolved', { source: 'monitor', detail: { reason: 'question' } });
      else line = act(step);
    act('undone', { line });
    if (after === undefined) expect(item()).toBeUndefined();
    else expect(item()).toMatchObject(after);
  });

  test('any actions, each undone at once, and a restart in between leave the item as it was', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...actions), { maxLength: 8 }), (steps) => {
        const first = world();
        first.raise();
        const before = first.item();
        let { board } = first;
        for (const [action, detail] of steps) {
          const scope = mine;
          const fields = { source: 'cli', scope, detail: { ...about, ...detail } } as const;
          foldLine(board, logged(board.seq + 1, `comms.attention_${action}`, fields));
          const line = board.seq;
          board = unpackBoard(JSON.parse(JSON.stringify(packBoard(board))));
          foldLine(
            board,
            logged(board.seq + 1, 'comms.attention_undone', {
              source: 'cli',
              scope,
              detail: { ...about, line },
            }),
          );
        }
        expect(board.attention.get(id)).toEqual(before);
      }),
      { numRuns: 100 },
    );
  });
});

const asks = {
  request: '1',
  kind: 'permission',
  title: 'Run npm test',
  tool: null,
  toolKind: null,
  paths: [],
  command: 'npm test',
  options: [],
  fields: [],
} as const;

describe('the cause of an item', () => {
  const signal = {
    ...mine,
    workerName: 'w',
    startedAt: '2026-01-01T00:00:00Z',
    updatedAt: '2026-01-01T00:00:00Z',
  };
  const works = (status: string): [string, LineFields] => [
    'orchestrator.worker.status_changed',
    { scope: mine, detail: { to: status, signal: { ...signal, status } } },
  ];
  const started: [string, LineFields] = [
    'agent.session.started',
    { scope: mine, detail: { attempt: 1, agent: 'codex', protocol: true } },
  ];
  const asked: [string, LineFields] = [
    'agent.request.opened',
    { scope: mine, detail: { attempt: 1, request: asks } },
  ];
  const answered: [string, LineFields] = [
    'agent.request.answered',
    { scope: mine, detail: { attempt: 1, request: '1', answer: 'allow_once', running: true } },
  ];
  const session = (state: string): [string, LineFields] => [
    `session.${state}`,
    {
      source: 'monitor',
      scope: { session: 'claude/1' },
      detail: { agent: 'claude', folder: '/src', known: 'hook' },
    },
  ];
  const feed = (grade: string): [string, LineFields] => [
    `monitor.feed.${grade}`,
    { source: 'monitor', scope: {}, detail: { feed: 'codehost' } },
  ];
  const item = (
    reason: string,
    scope: LineFields['scope'] = mine,
    more: object = {},
  ): [string, LineFields] => [
    'comms.attention',
    { source: 'monitor', scope, detail: { reason, message: reason, severity: 'high', ...more } },
  ];
  const onFeed = { feed: 'codehost' };
  const ofSession = { session: 'claude/1' };

  test.each<[string, [string, LineFields][], boolean]>([
    ['an agent that waits', [works('implementing'), started, asked, item('agent-needs-permission')], true],
    ['a failed worker that could not be started', [works('failed'), item('dispatch-failed')], true],
    ['the same, started again', [works('failed'), item('dispatch-failed'), works('implementing')], false],
    ['a stalled worker', [works('stalled'), item('worker-stalled')], true],
    ['a claim of done', [works('implementing'), works('done'), item('done-unproven')], true],
    ['a session that waits', [session('needs_permission'), item('agent-needs-permission', ofSession)], true],
    ['a session that goes on', [session('running'), item('agent-needs-permission', ofSession)], false],
    ['a blind feed', [feed('blind'), item('feed-blind', {}, onFeed)], true],
    ['a feed that delivers', [feed('live'), item('feed-blind', {}, onFeed)], false],
    ['failing signatures', [feed('degraded'), item('auth-failing', {}, onFeed)], true],
    ['an invalid configuration', [item('config-invalid', {})], true],
    ['a budget', [item('budget-reached')], true],
    ['a rule that fired', [works('implementing'), item('rule-slow')], false],
    ['an action that was given up', [item('outbox-gave-up')], false],
    ['a question of a helper', [works('implementing'), item('question')], false],
    ['a reason like a cause, of a worker without it', [works('implementing'), item('deploy-timeout')], false],
    ['a worker that is not known', [item('worker-dead')], false],
  ])('%s', (_what, lines, stands) => {
    const board = emptyBoard();
    for (const [event, more] of lines) foldLine(board, logged(board.seq + 1, event, more));
    const [open] = board.attention.values();
    if (open === undefined) throw new Error('no item is open');
    expect(causeStands(board, open)).toBe(stands);
    const { reason, orchestrator, ticket, feed: named, session: key } = open;
    const scope = {
      ...(orchestrator !== null && { orchestrator }),
      ...(ticket !== null && { ticket }),
      ...(key !== null && { session: key }),
    };
    const detail = { reason, by: 'kim', ...(named !== null && { feed: named }) };
    foldLine(board, logged(board.seq + 1, 'comms.attention_resolved', { source: 'cli', scope, detail }));
    expect(board.attention.has(open.id)).toBe(stands);
  });

  test('it is resolved by svc when the cause is gone, and a helper cannot', () => {
    const board = emptyBoard();
    const open = 'run-1/ENG-1/agent-needs-permission';
    const fold = ([event, more]: [string, LineFields]) => foldLine(board, logged(board.seq + 1, event, more));
    for (const line of [works('implementing'), started, asked, item('agent-needs-permission')]) fold(line);
    const detail = { reason: 'agent-needs-permission', by: 'kim' };
    fold(['comms.attention_resolved', { reporter: 'helper', scope: mine, detail }]);
    expect(board.attention.has(open)).toBe(true);
    const [effect] = fold(answered);
    expect(effect).toMatchObject({ kind: 'append', draft: { event: 'comms.attention_resolved' } });
    fold(['comms.attention_resolved', { source: 'monitor', scope: mine, detail }]);
    expect(board.attention.has(open)).toBe(false);
  });
});
