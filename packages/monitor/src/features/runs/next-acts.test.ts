import { mergedWorker, sampleMergeSha, sampleWorker } from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import type { Worker } from '../workers/worker.ts';
import type { Act, LiveAgent, PlannedRun, ProjectLimits, Revivals, Verification, World } from './acts.ts';
import { nextActs } from './next-acts.ts';
import type { Run } from './run.ts';

const now = '2026-01-02T12:00:00.000Z';
const ago = (seconds: number): string => new Date(Date.parse(now) - seconds * 1000).toISOString();

const limits: ProjectLimits = {
  maxParallel: 3,
  maxAwaitingReview: null,
  verifyBeforeMerge: true,
  allowSelfReportedCompletion: false,
  stallAfterSec: 1800,
  budget: { ticketUsd: null, runUsd: null, dayUsd: null },
};
type WaveState = 'started' | 'completed' | 'blocked';

function run(
  waves: string[][],
  states: WaveState[],
  more: Partial<PlannedRun> & { state?: Run['state']; id?: string; project?: string; most?: number } = {},
): PlannedRun {
  const { state = 'running', id = 'run-1', project = '/p', most = 3, ...rest } = more;
  return {
    run: {
      orchestrator: id,
      name: null,
      state,
      startedAt: ago(3600),
      endedAt: null,
      tickets: waves.flat(),
      plan: null,
      blockedBy: null,
      maxParallel: most,
      waves: states.map((waveState, index) => ({
        wave: index + 1,
        state: waveState,
        tickets: waves[index] ?? [],
        seq: 1,
      })),
      lastSeq: 1,
      lastAt: ago(3600),
    },
    plan: { waves, project, base: 'main', workerCommand: '/a:b', workerModel: 'opus', maxParallel: most },
    limits,
    awaitingReview: 0,
    spenders: [],
    ...rest,
  };
}

type Given = {
  runs?: PlannedRun[];
  workers?: Worker[];
  live?: Record<string, Partial<LiveAgent>>;
  revivals?: Record<string, Partial<Revivals>>;
  verifications?: Record<string, Partial<Verification>>;
};

/** Keys without a run belong to run-1. */
const keyed = <T>(values: Record<string, T> = {}): [string, T][] =>
  Object.entries(values).map(([key, value]) => [key.includes('/') ? key : `run-1/${key}`, value]);

function world(given: Given): World {
  return {
    now,
    runs: given.runs ?? [run([['A', 'B'], ['C']], ['started'])],
    workers: new Map((given.workers ?? []).map((worker) => [worker.key, worker])),
    processes: new Map(
      keyed(given.live).map(([key, live]) => [
        key,
        { state: 'running', silentSec: 10, reported: null, ...live },
      ]),
    ),
    revivals: new Map(
      keyed(given.revivals).map(([key, one]) => [
        key,
        { count: 0, lastDeathAt: ago(3600), lastEnd: 'died', ...one },
      ]),
    ),
    verifications: new Map(
      keyed(given.verifications).map(([key, one]) => [key, { state: 'passed', remediation: 'none', ...one }]),
    ),
  };
}

const worker = (ticket: string, status: Worker['status'], more: Partial<Worker> = {}): Worker =>
  sampleWorker({ ticket, status, ...more });
const merged = (ticket: string, status: Worker['status'], more: Partial<Worker> = {}): Worker =>
  mergedWorker({ ticket, status, statusSince: ago(10), ...more });

/** `revive A 2`, `block-wave 1 A: failed`, `hold slots`. */
function actText(act: Act): string {
  const words = Object.entries(act).flatMap(([name, value]) =>
    ['orchestrator', 'message', 'until', 'notBefore', 'tickets', 'mergeSha'].includes(name) ||
    value === null ||
    (name === 'wave' && 'ticket' in act)
      ? []
      : [String(value)],
  );
  return (act.orchestrator === 'run-1' ? words : [`${act.orchestrator}:`, ...words]).join(' ');
}

const both = { A: {}, B: {} };
const recalled = (ticket: string, seconds: number, more: Partial<Worker> = {}): Worker =>
  worker(ticket, 'pr-created', { recall: { cause: 'checks', at: ago(seconds), seq: 5 }, ...more });
/** Its process is gone; a usage limit was reached, or a person stopped it, a minute ago. */
const pausedAgent = (given: { endedAt?: string; stopped?: boolean }): Worker['agent'] => ({
  attempt: 1,
  name: 'claude',
  version: null,
  protocol: true,
  reason: null,
  state: 'ended',
  since: ago(60),
  sessionId: null,
  message: null,
  doing: null,
  mode: null,
  model: null,
  context: null,
  tokens: null,
  cost: null,
  costOf: 'process',
  open: [],
  problem: null,
  limit: {
    attempt: 1,
    turn: 2,
    text: 'x',
    at: ago(60),
    until: null,
    resumeAt: ago(-60),
    number: 1,
    endedAt: given.endedAt ?? null,
    resumed: false,
  },
  stopped: given.stopped === true ? { by: 'mia', at: ago(60) } : null,
});
const spent = (ticket: string, usd: number) => ({
  orchestrator: 'run-1',
  ticket,
  signal: null,
  spent: {
    attempts: [{ attempt: 1, sum: null, usd, tokens: null, model: null }],
    days: [{ day: now.slice(0, 10), usd }],
  },
});
const rows: [name: string, given: Given, acts: string[]][] = [
  [
    'a run whose budget is used up starts nothing',
    {
      runs: [
        run([['A', 'B']], ['started'], {
          limits: { ...limits, budget: { ticketUsd: null, runUsd: 5, dayUsd: null } },
          spenders: [spent('A', 3), spent('C', 2)],
        }),
      ],
      workers: [worker('A', 'planning')],
      revivals: { A: {} },
    },
    ['hold budget', 'hold budget'],
  ],
  [
    'a ticket whose budget is used up is not started, another one is',
    {
      runs: [
        run([['A', 'B']], ['started'], {
          limits: { ...limits, budget: { ticketUsd: 3, runUsd: null, dayUsd: null } },
          spenders: [spent('A', 3)],
        }),
      ],
      workers: [worker('A', 'planning')],
      revivals: { A: {} },
    },
    ['hold A budget', 'dispatch B'],
  ],
  [
    'a dead agent is not revived before its usage limit is over',
    { workers: [worker('A', 'planning', { agent: pausedAgent({}) })], live: { B: {} }, revivals: { A: {} } },
    ['hold A limit'],
  ],
  [
    'but after it',
    {
      workers: [worker('A', 'planning', { agent: pausedAgent({ endedAt: ago(1) }) })],
      live: { B: {} },
      revivals: { A: {} },
    },
    ['revive A 1'],
  ],
  [
    'and for a person’s message, but not for failed checks',
    {
      workers: [
        worker('A', 'planning', {
          agent: pausedAgent({}),
          recall: { cause: 'message', at: ago(5), seq: 5 },
        }),
        worker('B', 'pr-created', {
          agent: pausedAgent({}),
          recall: { cause: 'checks', at: ago(5), seq: 5 },
        }),
      ],
      revivals: { A: {} },
    },
    ['hold B limit', 'revive A 1'],
  ],
  [
    'never when a person stopped it during the pause',
    {
      workers: [worker('A', 'planning', { agent: pausedAgent({ endedAt: ago(50), stopped: true }) })],
      live: { B: {} },
      revivals: { A: {} },
    },
    ['hold A stopped'],
  ],
  [
    'a worker that is needed for its pull request is started again, before others are dispatched',
    { workers: [recalled('B', 60)], runs: [run([['A', 'B']], ['started'], { most: 1 })] },
    ['recall B checks', 'hold slots'],
  ],
  [
    'even if all its revivals are used up, and however many pull requests wait for a person',
    {
      workers: [recalled('A', 60)],
      live: { B: {} },
      revivals: { A: { count: 3, lastLaunchAt: ago(600) } },
      runs: [
        run([['A', 'B']], ['started'], { awaitingReview: 5, limits: { ...limits, maxAwaitingReview: 1 } }),
      ],
    },
    ['recall A checks'],
  ],
  ['not while its agent is alive', { workers: [recalled('A', 60)], live: both }, []],
  [
    'not if one was launched since',
    { workers: [recalled('A', 60)], live: { B: {} }, revivals: { A: { lastLaunchAt: ago(30) } } },
    [],
  ],
  [
    'not after its merge',
    { workers: [merged('A', 'merged', { recall: recalled('A', 60).recall })], live: both },
    ['start-verification A'],
  ],
  [
    'not in a paused run',
    {
      workers: [recalled('A', 60)],
      live: { B: {} },
      runs: [run([['A', 'B']], ['started'], { state: 'paused' })],
    },
    ['hold paused'],
  ],
  ['a run starts with its first wave', { runs: [run([['A'], ['B']], [])] }, ['start-wave 1']],
  ['a wave starts with its tickets', {}, ['dispatch A', 'dispatch B']],
  ['a dispatch in progress is not requested again', { live: { A: { state: 'starting' } } }, ['dispatch B']],
  [
    'a dispatch that was interrupted before a launch is repeated',
    { workers: [worker('A', 'dispatched')], live: { B: {} } },
    ['dispatch A'],
  ],
  ['working agents are left alone', { workers: [worker('A', 'planning')], live: both }, []],

  [
    'a dead one waits for its delay',
    { workers: [worker('A', 'planning')], live: { B: {} }, revivals: { A: { lastDeathAt: ago(9) } } },
    ['hold A backoff'],
  ],
  [
    'and is revived after it',
    { workers: [worker('A', 'planning')], live: { B: {} }, revivals: { A: { lastDeathAt: ago(10) } } },
    ['revive A 1'],
  ],
  [
    'a second time after a minute',
    { live: { B: {} }, revivals: { A: { count: 1, lastDeathAt: ago(59) } } },
    ['hold A backoff'],
  ],
  ['a third time', { live: { B: {} }, revivals: { A: { count: 2, lastDeathAt: ago(300) } } }, ['revive A 3']],
  [
    'and then given up, but not before its last update can arrive',
    {
      workers: [worker('A', 'planning')],
      live: { B: {} },
      revivals: { A: { count: 3, lastDeathAt: ago(4) } },
    },
    ['hold A backoff'],
  ],
  [
    'dead for good',
    {
      workers: [worker('A', 'planning')],
      live: { B: {} },
      revivals: { A: { count: 3, lastDeathAt: ago(5) } },
    },
    ['fail A failed worker-dead'],
  ],
  [
    'silent for good',
    { live: { B: {} }, revivals: { A: { count: 3, lastEnd: 'hanging' } } },
    ['fail A stalled worker-stalled'],
  ],
  [
    'a program that cannot be started is not retried',
    { live: { B: {} }, revivals: { A: { count: 0, lastEnd: 'unstartable', lastDeathAt: ago(5) } } },
    ['fail A failed worker-dead'],
  ],
  [
    'a death without a known time waits',
    { live: { B: {} }, revivals: { A: { lastDeathAt: null } } },
    ['hold A backoff'],
  ],
  [
    'an agent may exit when its pull request exists',
    { workers: [worker('A', 'pr-created'), worker('B', 'merging')], revivals: both },
    [],
  ],
  [
    'a worker that reports a merge is not revived while the code host is being checked',
    {
      workers: [worker('A', 'shipping', { claim: { status: 'merged', at: ago(60), seq: 1 } })],
      live: { B: {} },
      revivals: { A: {} },
    },
    ['hold A claim'],
  ],
  [
    'but not forever, and not for a time in the future',
    {
      workers: [
        worker('A', 'shipping', { claim: { status: 'done', at: ago(900), seq: 1 } }),
        worker('B', 'shipping', { claim: { status: 'done', at: '2027-01-01T00:00:00Z', seq: 1 } }),
      ],
      revivals: both,
    },
    ['revive A 1', 'revive B 1'],
  ],
  [
    'an agent that waits for a person may be silent',
    {
      workers: [worker('A', 'planning'), worker('B', 'implementing')],
      live: {
        A: { silentSec: 1800, reported: 'needs-permission' },
        B: { silentSec: 1800, reported: 'idle' },
      },
    },
    [],
  ],
  [
    'an idle agent is ended when its part is done',
    {
      workers: [worker('A', 'pr-created'), worker('B', 'implementing')],
      live: { A: { reported: 'idle' }, B: { reported: 'idle' } },
    },
    ['end A idle'],
  ],
  [
    'silence of half an hour ends an agent, whatever its status',
    {
      workers: [worker('A', 'planning'), worker('B', 'pr-created')],
      live: { A: { silentSec: 1800 }, B: { silentSec: 1800 } },
    },
    ['end-hanging A', 'end-hanging B'],
  ],
  ['a dispatch is not silent', { live: { A: { state: 'starting', silentSec: 9999 }, B: {} } }, []],

  [
    'no more than the slots of the project',
    { runs: [run([['A', 'B', 'C', 'D', 'E']], ['started'])], live: { C: {} } },
    ['dispatch A', 'dispatch B', 'hold slots'],
  ],
  [
    'no more than the slots of the run',
    { runs: [run([['A', 'B']], ['started'], { most: 1 })] },
    ['dispatch A', 'hold slots'],
  ],
  [
    'all runs of the project share its slots, even a canceled one',
    {
      runs: [
        run([['A', 'B']], ['started']),
        run([['X']], ['started'], { id: 'run-2' }),
        run([['Y']], ['started'], { id: 'run-3', state: 'canceled' }),
        run([['Z', 'A']], ['started'], { id: 'run-4', project: '/q' }),
      ],
      live: { 'run-2/X': {}, 'run-3/Y': {} },
    },
    ['run-3: end Y run-over', 'dispatch A', 'hold slots', 'run-4: dispatch Z', 'run-4: dispatch A'],
  ],
  [
    'started work comes before new work',
    { runs: [run([['A', 'B']], ['started'], { most: 1 })], revivals: { B: {} } },
    ['revive B 1', 'hold slots'],
  ],
  [
    'a ticket in two runs has one agent',
    {
      runs: [run([['A']], ['started']), run([['A']], ['started'], { id: 'run-2' })],
      live: { 'run-2/A': {} },
    },
    ['hold A ticket-elsewhere'],
  ],
  [
    'too many reviews hold new work, but not started work',
    {
      runs: [
        run([['A', 'B']], ['started'], { limits: { ...limits, maxAwaitingReview: 2 }, awaitingReview: 3 }),
      ],
      revivals: { B: {} },
    },
    ['revive B 1', 'hold review'],
  ],
  [
    'the allowed number holds nothing',
    {
      runs: [run([['A']], ['started'], { limits: { ...limits, maxAwaitingReview: 2 }, awaitingReview: 2 })],
    },
    ['dispatch A'],
  ],

  [
    'a paused run starts nothing, but notices what happens',
    {
      runs: [run([['A', 'B', 'C']], ['started'], { state: 'paused' })],
      workers: [worker('B', 'failed')],
      live: { C: { silentSec: 2000 } },
    },
    ['end-hanging C', 'block-wave 1 B: failed', 'hold paused'],
  ],
  ['a paused run starts no wave', { runs: [run([['A']], [], { state: 'paused' })] }, []],
  [
    'a canceled run ends its agents and nothing else',
    { runs: [run([['A', 'B']], ['started'], { state: 'canceled' })], live: { A: { state: 'starting' } } },
    ['end A run-over'],
  ],
  [
    'a canceled run also ends its workers without a process, up to their merge',
    {
      runs: [run([['A', 'B', 'C', 'D', 'E', 'F']], ['started'], { state: 'canceled' })],
      workers: [
        worker('A', 'dispatched'),
        worker('B', 'failed'),
        worker('C', 'pr-created'),
        worker('D', 'canceled'),
        merged('E', 'deploying'),
        worker('F', 'planning', { removed: true }),
        sampleWorker({ key: 'run-10/A', orchestrator: 'run-10', ticket: 'A' }),
      ],
      revivals: both,
    },
    ['end A run-over', 'end B run-over', 'end C run-over'],
  ],
  [
    'a complete run has no working worker either',
    { runs: [run([['A']], ['completed'], { state: 'completed' })], workers: [worker('A', 'dispatched')] },
    ['end A run-over'],
  ],
  ['its start is not in the log', { runs: [run([['A']], [], { state: 'unknown' })], live: { A: {} } }, []],
  [
    'a canceled worker is stopped at once, one that ended on its own after two minutes',
    {
      runs: [run([['A', 'B', 'C']], ['started'])],
      workers: [
        worker('A', 'canceled', { statusSince: ago(1) }),
        worker('B', 'failed', { statusSince: ago(119) }),
        worker('C', 'failed', { statusSince: ago(120) }),
      ],
      live: { A: {}, B: {}, C: {} },
    },
    ['end A canceled', 'end C worker-ended', 'block-wave 1 B: failed; C: failed'],
  ],

  [
    'a merge is verified in parallel with its deploy',
    {
      workers: [merged('A', 'deploying'), merged('B', 'done')],
      verifications: { B: { state: 'running' } },
    },
    ['start-verification A'],
  ],
  [
    'no more verifications than slots',
    {
      runs: [run([['A', 'B']], ['started'], { limits: { ...limits, maxParallel: 1 } })],
      workers: [merged('A', 'done'), merged('B', 'done')],
    },
    ['start-verification A'],
  ],
  [
    'verified is complete',
    { workers: [merged('A', 'done'), merged('B', 'done')], verifications: both },
    ['complete-wave 1'],
  ],
  [
    'canceled does not block, nor does accepted without a merge',
    { workers: [worker('A', 'canceled'), worker('B', 'done')] },
    ['complete-wave 1'],
  ],
  [
    'a failed verification blocks until remediation is filed',
    {
      workers: [merged('A', 'done'), merged('B', 'done')],
      verifications: { A: { state: 'failed' }, B: {} },
    },
    ['file-remediation A', 'block-wave 1 A: its verification failed and no remediation is filed'],
  ],
  [
    'a failed verification blocks until remediation is filed: also while that is in progress, and it is filed once',
    {
      runs: [run([['A']], ['blocked'])],
      workers: [merged('A', 'done')],
      verifications: { A: { state: 'failed', remediation: 'filing' } },
    },
    [],
  ],
  [
    'and then the wave continues',
    {
      runs: [run([['A']], ['blocked'])],
      workers: [merged('A', 'done')],
      verifications: { A: { state: 'failed', remediation: 'filed' } },
    },
    ['complete-wave 1'],
  ],
  [
    'with self-reported completion a failure is advice',
    {
      runs: [run([['A']], ['started'], { limits: { ...limits, allowSelfReportedCompletion: true } })],
      workers: [merged('A', 'done')],
      verifications: { A: { state: 'failed' } },
    },
    ['complete-wave 1'],
  ],
  [
    'without verification done is enough',
    {
      runs: [run([['A']], ['started'], { limits: { ...limits, verifyBeforeMerge: false } })],
      workers: [merged('A', 'done')],
    },
    ['complete-wave 1'],
  ],
  [
    'an unknown merge commit',
    {
      workers: [worker('A', 'canceled'), merged('B', 'done', { merge: { sha: null, at: ago(9), seq: 1 } })],
    },
    ['hold B merge-commit-unknown'],
  ],
  [
    'a failed deploy blocks, a running one does not',
    {
      runs: [run([['A', 'B']], ['started'], { limits: { ...limits, verifyBeforeMerge: false } })],
      workers: [merged('A', 'stalled'), merged('B', 'deploy-failed')],
    },
    ['block-wave 1 A: its deploy timed out'],
  ],
  [
    'a missing signal file blocks, unless its agent is alive',
    {
      workers: [worker('A', 'planning', { removed: true }), worker('B', 'planning', { removed: true })],
      revivals: both,
      live: { B: {} },
    },
    ['block-wave 1 A: its status file is gone'],
  ],

  [
    'a blocked wave is reported once, and its other tickets continue',
    { runs: [run([['A', 'B']], ['blocked'])], workers: [worker('A', 'failed')] },
    ['dispatch B'],
  ],
  [
    'a retry removes the block',
    { runs: [run([['A', 'B']], ['blocked'])], workers: [worker('A', 'dispatched')], live: both },
    ['start-wave 1'],
  ],
  [
    'the next wave after the last one is complete',
    {
      runs: [run([['A'], ['B']], ['completed'])],
      workers: [merged('A', 'done')],
      verifications: { A: {} },
    },
    ['start-wave 2'],
  ],
  ['after the last wave the run is complete', { runs: [run([['A']], ['completed'])] }, ['complete-run']],
  ['but not while one of its agents is alive', { runs: [run([['A']], ['completed'])], live: { A: {} } }, []],
  ['a complete run stays complete', { runs: [run([['A']], ['completed'], { state: 'completed' })] }, []],
];

describe('the next acts', () => {
  test.each(rows)('%s', (_name, given, acts) => {
    expect(nextActs(world(given)).map(actText)).toEqual(acts);
  });
});

test('acts contain everything needed to execute them', () => {
  const acts = nextActs(
    world({
      runs: [run([['A', 'B', 'C', 'D']], ['started'])],
      workers: [merged('A', 'done'), worker('B', 'failed')],
      revivals: { C: { lastDeathAt: ago(100) } },
      live: { D: { silentSec: 4000 } },
    }),
  );
  expect(acts).toEqual([
    { kind: 'end-hanging', orchestrator: 'run-1', ticket: 'D' },
    { kind: 'start-verification', orchestrator: 'run-1', ticket: 'A', mergeSha: sampleMergeSha },
    { kind: 'block-wave', orchestrator: 'run-1', wave: 1, tickets: ['B'], why: 'B: failed' },
    { kind: 'revive', orchestrator: 'run-1', ticket: 'C', wave: 1, attempt: 1, notBefore: ago(90) },
  ]);
});

test.each([
  [{ count: 3 }, 'The agent ended before its work was done, even after 3 revivals'],
  [{ count: 3, lastEnd: 'hanging' }, 'The agent went silent before its work was done, even after 3 revivals'],
  [{ count: 0, lastEnd: 'unstartable' }, "The agent's program cannot be started"],
] as const)('why it is given up: %j', (revivals, message) => {
  const acts = nextActs(world({ live: { B: {} }, revivals: { A: revivals } }));
  expect(acts).toContainEqual(expect.objectContaining({ kind: 'fail', message }));
});
