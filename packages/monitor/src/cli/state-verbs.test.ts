// svc board, attention, why, receipt and deploy, against the real routes.
import { join } from 'node:path';
import {
  mergedPullRequest,
  mergedWorker,
  sampleAttention,
  sampleBoard,
  sampleDeployment,
  sampleMergeSha,
  samplePullRequest,
  sampleTicket,
  sampleTime,
  sampleWorker,
  testTerminal,
} from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { attentionView } from '../features/attention/attention-view.ts';
import { printAttention } from '../features/attention/verbs.ts';
import type { Session } from '../features/sessions/session.ts';
import { readShared } from '../features/team/shared.ts';
import { sharedThings } from '../features/team/shared-things.ts';
import { type StateServerOptions, startStateServer } from '../features/testing/state-server.ts';
import type { Board } from '../kernel/board/board.ts';
import { claimInstance } from '../kernel/instance/instance.ts';
import { runCommandLine } from './run.ts';

/** A machine whose daemon has this board. */
async function machine(board: Board, more: Partial<StateServerOptions> = {}) {
  const now = sampleTime('12:00');
  const terminal = testTerminal({ now, environment: { USER: 'kim' } });
  const identity = (port: number) => ({
    instance: '00000000-0000-4000-8000-000000000001',
    pid: process.pid,
    port,
    url: `http://127.0.0.1:${port}`,
    version: '1.2.3',
    startedAt: now,
  });
  const { port, appended } = await startStateServer({ board, now, identity, ...more });
  const instance = claimInstance(join(terminal.home, 'svc'));
  onTestFinished(() => instance?.withdraw());
  await instance?.announce({ state: 'running', ...identity(port) });
  return { terminal, appended, svc: (...words: string[]) => runCommandLine(terminal, words) };
}

const merged = { pullRequests: [mergedPullRequest()], tickets: [sampleTicket()] };
const lines = (text: string): string[] => text.split('\n');

test('what another machine says is shown as what it says', async () => {
  const others = sampleBoard({ workers: [sampleWorker()], attention: [sampleAttention()] });
  const [worker, item] = (['worker', 'attention'] as const).map((kind) => {
    const thing = sharedThings(others).find((one) => one.kind === kind);
    const given = { ...thing?.value, waitsFor: 'a person: svc why ENG-1', remedy: 'svc why ENG-1' };
    return { key: thing?.key ?? '', read: readShared(kind, given) };
  });
  const board = sampleBoard({});
  const last = { lastSeq: 5, lastAt: sampleTime('11:00') };
  board.members.set('two', { id: 'two', machine: 'laptop', person: 'eve', role: 'member', ...last });
  if (worker?.read?.kind !== 'worker' || item?.read?.kind !== 'attention') throw new Error('not shared');
  const id = `two/worker/${worker.key}`;
  board.team.set(id, { id, machine: 'two', key: worker.key, version: 1, ...last, ...worker.read });
  const { terminal, svc } = await machine(board);
  expect(await svc('why', 'ENG-1')).toBe(0);
  expect(terminal.printed()).toMatch(/because +laptop says, not checked here: /);
  expect(terminal.printed()).toMatch(/waiting for +laptop says, not checked here: a person: svc why ENG-1\n/);

  const shown = { ...item.read.value, machine: 'laptop', person: 'eve' };
  printAttention(terminal, attentionView({ attention: new Map() }, terminal.now().getTime(), [shown]));
  expect(terminal.printed()).toContain(
    '\n  laptop suggests, not checked here, to run on that machine: svc why ENG-1',
  );
});

test('why, as text', async () => {
  const { terminal, svc } = await machine(
    sampleBoard({ ...merged, workers: [mergedWorker({}, { deadline: sampleTime('12:20') })] }),
  );
  expect(await svc('why', 'eng-1')).toBe(0);
  expect(lines(terminal.printed())).toEqual([
    'ENG-1 in run-1: merged',
    '  because      acme/web#12 is merged, but no deployment to production has started.',
    '  since        2026-01-02 11:00:00 UTC (1 h ago)',
    '  waiting for  a deployment of aaaaaaa to production',
    '  until        2026-01-02 12:20:00 UTC (in 20 min)',
    'Facts, with their events:',
    '  5   2026-01-02 08:00:00 UTC  observed  The tracker reports In Progress.',
    '  10  2026-01-02 09:00:00 UTC  observed  The process is running.',
    '  20  2026-01-02 10:00:00 UTC  observed  acme/web#12 was opened.',
    '  30  2026-01-02 10:30:00 UTC  observed  Checks, build: success.',
    '  40  2026-01-02 11:00:00 UTC  observed  acme/web#12 was merged as aaaaaaa.',
  ]);
});

test('why has the words of the board for a status, also for what another machine published', async () => {
  const dead = { state: 'dead', since: sampleTime('11:00'), seq: 3 } as const;
  const board = sampleBoard({ workers: [sampleWorker({ process: dead })] });
  const { terminal, svc } = await machine(board);
  expect(await svc('why', 'ENG-1')).toBe(0);
  expect(lines(terminal.printed())[0]).toBe('ENG-1 in run-1: implementing, process exited');
  expect(await svc('why', 'ENG-1', '--json')).toBe(0);
  expect(terminal.printed()).toContain('"status": "implementing"');

  const reader = sampleBoard({});
  const last = { lastSeq: 5, lastAt: sampleTime('11:00') };
  reader.members.set('two', { id: 'two', machine: 'laptop', person: 'kim', role: 'member', ...last });
  for (const { key, ...shared } of sharedThings(board)) {
    const id = `two/${shared.kind}/${key}`;
    reader.team.set(id, { id, machine: 'two', key, version: 1, ...last, ...shared });
  }
  const second = await machine(reader);
  expect(await second.svc('why', 'ENG-1')).toBe(0);
  expect(lines(second.terminal.printed())[0]).toBe('ENG-1 in run-1: implementing, process exited');
});

test('why says how long ago the agent reported its status', async () => {
  const { terminal, svc } = await machine(sampleBoard({ workers: [sampleWorker()] }));
  expect(await svc('why', 'ENG-1')).toBe(0);
  expect(terminal.printed()).toContain('because      The agent says: implementing (3 h ago).');
});

test('text from outside cannot control the terminal', async () => {
  const state = { id: null, name: 'Done\u001b[2J\nENG-1 shipped\u202e', type: 'completed' };
  const { terminal, svc } = await machine(
    sampleBoard({ workers: [sampleWorker()], tickets: [sampleTicket({ state })] }),
  );
  expect(await svc('why', 'ENG-1')).toBe(0);
  expect(terminal.printed()).toContain(
    'The tracker reports Done?[2J?ENG-1 shipped?, but the status is implementing.',
  );
  expect(await svc('why', '../../health')).toBe(2);
});

test('receipt: exit 0 when it shipped, 1 when not or when unknown', async () => {
  const proven = mergedWorker(
    { status: 'done' },
    { result: 'success', provenBy: { deploymentId: 41, sha: sampleMergeSha } },
  );
  const success = sampleDeployment({
    states: [{ state: 'success', at: sampleTime('11:15'), seq: 55, via: 'poll' }],
  });
  const shipped = await machine(sampleBoard({ ...merged, workers: [proven], deployments: [success] }));
  expect(await shipped.svc('receipt', 'ENG-1')).toBe(0);
  expect(lines(shipped.terminal.printed())).toEqual([
    'ENG-1 shipped',
    '  ticket        observed  2026-01-02 08:00:00 UTC  event 5   ENG-1  https://tracker.example/ENG-1',
    '  pull-request  observed  2026-01-02 10:00:00 UTC  event 20  acme/web#12  https://codehost.example/acme/web/pull/12',
    '  checks        observed  2026-01-02 10:30:00 UTC  event 30  passed',
    `  merge         observed  2026-01-02 11:00:00 UTC  event 40  ${sampleMergeSha}`,
    '  deployment    fetched   2026-01-02 11:15:00 UTC  event 55  41 of aaaaaaa to production  https://app.example',
  ]);
  const waiting = await machine(sampleBoard({ ...merged, workers: [mergedWorker()] }));
  expect(await waiting.svc('receipt', 'ENG-1', '--json')).toBe(1);
  expect(JSON.parse(waiting.terminal.printed())).toMatchObject({ shipped: false });
  expect(await waiting.svc('receipt', 'ENG-7')).toBe(1);
  expect(waiting.terminal.complained()).toContain('Unknown ticket ENG-7');
  const unreadable = { project: '/p', deploy: {}, relaxes: [], others: 'unknown' as const };
  const unclear = await machine(sampleBoard({ ...merged, projects: [unreadable] }));
  expect(await unclear.svc('receipt', 'ENG-1')).toBe(1);
  expect(unclear.terminal.printed()).toContain('ENG-1 may have shipped: unknown');
});

test('deploy: the new state, or why not', async () => {
  const stalled = mergedWorker({ status: 'stalled' }, { result: 'timeout' });
  const { terminal, svc, appended } = await machine(sampleBoard({ ...merged, workers: [stalled] }));
  expect(await svc('deploy', 'retry', 'ENG-1', '--note', 'fixed')).toBe(0);
  expect(terminal.printed()).toContain('waiting for  a deployment of aaaaaaa to production');
  expect(appended[0]).toMatchObject({
    event: 'orchestrator.deploy.retried',
    detail: { by: 'kim', note: 'fixed' },
  });
  expect(await svc('deploy', 'retry', 'ENG-1')).toBe(1);
  expect(terminal.complained()).toContain('Nothing to retry: ENG-1 is merged.');
});

test('attention: the list, and each action', async () => {
  const id = 'run-1/ENG-1/deploy-timeout';
  const { terminal, svc, appended } = await machine(
    sampleBoard({
      attention: [
        sampleAttention({ times: 3 }),
        sampleAttention({
          ticket: 'ENG-22',
          severity: 'medium',
          openedAt: sampleTime('09:00'),
          remedy: null,
        }),
        sampleAttention({ ticket: 'ENG-3', snoozedUntil: sampleTime('13:00') }),
      ],
    }),
  );
  expect(await svc('attention')).toBe(0);
  expect(await svc('attention', 'list')).toBe(0);
  const list = [
    'high    run-1/ENG-1/deploy-timeout   30 min ago  3 times',
    '  Nothing has succeeded in production',
    '  svc deploy retry ENG-1',
    'medium  run-1/ENG-22/deploy-timeout  3 h ago',
    '  Nothing has succeeded in production',
    'Snoozed:',
    'high  run-1/ENG-3/deploy-timeout  30 min ago  snoozed until 2026-01-02 13:00:00 UTC (in 1 h)',
    '  Nothing has succeeded in production',
    '  svc deploy retry ENG-3',
  ];
  expect(lines(terminal.printed())).toEqual([...list, ...list]);
  expect(await svc('attention', 'ack', id)).toBe(0);
  expect(await svc('attention', 'snooze', id, '--for', '2h')).toBe(0);
  expect(await svc('attention', 'hand-over', id, '--to', 'alex', '--note', 'your deploy')).toBe(0);
  expect(await svc('attention')).toBe(0);
  expect(terminal.printed()).toContain('handed over to alex by kim');
  expect(await svc('attention', 'resolve', id)).toBe(0);
  expect(lines(terminal.printed()).filter((line) => / is (?:ack|snoozed|handed|res)/.test(line))).toEqual([
    `${id} is acknowledged by kim.`,
    `${id} is snoozed until 2026-01-02 14:00:00 UTC (in 2 h).`,
    `${id} is handed over to alex.`,
    `${id} is resolved.`,
  ]);
  expect(appended).toHaveLength(4);
  expect(await svc('attention', 'resolve', id)).toBe(1);
  expect(terminal.complained()).toContain('List the open items: svc attention');
  expect(await svc('attention', 'snooze', id)).toBe(2);
  expect(await svc('attention', 'hand-over', id)).toBe(2);
  expect(await svc('attention', 'snooze', id, '--for', '99d')).toBe(2);
});

test('attention: resolve is refused while the cause exists, and the last action is undone', async () => {
  const waiting = sampleAttention();
  const asked = sampleAttention({ reason: 'question', remedy: null });
  const { terminal, svc } = await machine(
    sampleBoard({
      attention: [waiting, asked],
      workers: [mergedWorker({ status: 'stalled' }, { result: 'timeout' })],
    }),
  );
  expect(await svc('attention', 'resolve', waiting.id)).toBe(1);
  expect(terminal.complained()).toContain('cannot be resolved: its cause still exists');
  expect(terminal.complained()).toContain(`svc attention snooze ${waiting.id} --for 2h`);
  expect(await svc('attention', 'snooze', waiting.id, '--for', '2h')).toBe(0);
  expect(await svc('board')).toBe(0);
  expect(terminal.printed()).toContain('1 needs you, 0 working');
  expect(await svc('attention', 'undo', waiting.id)).toBe(0);
  expect(await svc('attention', 'resolve', asked.id)).toBe(0);
  expect(await svc('attention', 'undo', asked.id)).toBe(0);
  expect(lines(terminal.printed()).filter((line) => line.endsWith('is undone.'))).toEqual([
    `The snooze of ${waiting.id} is undone.`,
    `The resolution of ${asked.id} is undone.`,
  ]);
  expect(await svc('attention', 'undo', asked.id)).toBe(1);
  expect(terminal.complained()).toContain('that can be undone');
});

test('no attention items', async () => {
  const { terminal, svc } = await machine(sampleBoard());
  expect(await svc('attention')).toBe(0);
  expect(terminal.printed()).toBe('Nothing needs you.');
});

test('board: a line for each worker; a past one; feeds with problems', async () => {
  const blind = {
    feed: 'codehost',
    grade: 'blind',
    since: sampleTime('11:00'),
    reason: 'silent',
    remedy: null,
    lastSeq: 9,
  };
  const { terminal, svc } = await machine(
    sampleBoard({
      ...merged,
      workers: [
        sampleWorker({
          ticket: 'ENG-10',
          branch: 'eng-10',
          process: { state: 'dead', since: sampleTime('09:30'), seq: 12 },
        }),
        mergedWorker({}, { deadline: sampleTime('12:20') }),
      ],
      feeds: [blind],
    }),
    { past: sampleBoard({ seq: 7, at: sampleTime('10:00') }) },
  );
  expect(await svc('board')).toBe(0);
  expect(lines(terminal.printed())).toEqual([
    'Event 100, 2026-01-02 12:00:00 UTC (now)',
    '1 needs you, 0 working, 0 in review, 1 shipping, 0 done today',
    'ENG-1   merged                        1 h ago  -  Log in with a key',
    '        run-1, acme/web#12, waiting for a deployment of aaaaaaa to production',
    '        (until in 20 min)',
    'ENG-10  implementing, process exited  3 h ago  -',
    "        run-1, waiting for the agent's next update, sources disagree:",
    '        svc why ENG-10',
    '0 open pull requests, 0 attention items (svc attention)',
    'The codehost feed is blind: silent',
  ]);
  expect(await svc('board', '--at', '2h')).toBe(0);
  expect(terminal.printed()).toContain('Event 7, 2026-01-02 10:00:00 UTC (2 h ago)\nNo agents yet.');
  expect(await svc('board', '--at', 'soon')).toBe(2);
});

test('board: sessions in words, with their pull requests; one that has ended stays for a while', async () => {
  const session = (key: string, state: Session['state'], at: string, branch: string): Session => ({
    key,
    agent: 'claude',
    folder: '/src/web',
    branch,
    state,
    known: 'hook',
    since: sampleTime(at),
    tool: state === 'needs-permission' ? 'Bash' : null,
    reason: null,
    pid: null,
    pidStartedAt: null,
    open: [],
    lastSeq: 3,
    lastAt: sampleTime(at),
  });
  const sessions = [
    session('claude/a', 'needs-permission', '11:58', 'fix'),
    session('claude/b', 'ended', '11:50', 'tidy'),
    session('claude/c', 'ended', '11:40', 'old'),
  ];
  const board = sampleBoard({ pullRequests: [samplePullRequest({ branch: 'tidy' })] });
  for (const one of sessions) board.sessions.set(one.key, one);
  const { terminal, svc } = await machine(board);
  expect(await svc('board')).toBe(0);
  const printed = terminal.printed();
  expect(printed).toContain('2 sessions of agents that people started:');
  expect(printed).toMatch(/fix +claude +waiting for your permission \(Bash\) +2 min ago +- +known by hook/);
  expect(printed).toMatch(/tidy +claude +ended +10 min ago +acme\/web#12 +known by hook/);
});

test.each([['why', 'ENG-1'], ['receipt', 'ENG-1'], ['deploy', 'accept', 'ENG-1'], ['attention'], ['board']])(
  '%s without a daemon is an error',
  async (...words) => {
    const terminal = testTerminal();
    expect(await runCommandLine(terminal, words)).toBe(5);
    expect(terminal.complained()).toContain('The daemon is not running.');
  },
);

test('without tickets there is no cost to show, and nothing is called unknown', async () => {
  const { terminal, svc } = await machine(sampleBoard({}));
  expect(await svc('telemetry', 'cost')).toBe(0);
  expect(await svc('telemetry', 'cost', '--run', 'july')).toBe(0);
  expect(lines(terminal.printed())).toEqual([
    'There are no tickets yet. Start a run: svc orchestrate start <ticket>',
    'There are no tickets of the run july. See all: svc telemetry cost',
  ]);
});
