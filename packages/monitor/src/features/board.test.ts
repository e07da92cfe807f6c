import type { WorkerStatus } from '@svc/contract/signal-file';
import { describe, expect, test } from 'vitest';
import { type Board, type FoldedLine } from '../kernel/board/board.ts';
import { type LineFields, logged, moment, withPolicyOf } from '../kernel/board/testing/lines.ts';
import { type EventFields, parseEventDraft } from '../kernel/log/event-line.ts';
import type { Effect } from '../kernel/outbox/effect.ts';
import { emptyBoard, foldLine, packBoard, unpackBoard } from './board.ts';
import { pullRequestOfWorker } from './pull-requests/own-pull-request.ts';
import { topics } from './topics.ts';
import { whyTicket } from './why/why.ts';
import type { Worker } from './workers/worker.ts';

const ship = {
  timeoutSec: 1800,
  productionEnvironment: 'production',
  stagingEnvironment: 'staging',
  skipDeployVerification: false,
  acceptDescendants: true,
};
const skip = { ...ship, skipDeployVerification: true };
const mine = { orchestrator: 'run-1', ticket: 'ENG-42' };
const scope = { repo: 'Acme/Web', pr: 42, branch: 'eng-42', ticket: 'ENG-42', sha: 'head' };

/** `policy`: of the repository from here on. */
type Line = [event: string, more?: LineFields, policy?: typeof ship];

function worker(
  status: WorkerStatus,
  more: { signal?: object; policy?: typeof ship; event?: string } = {},
): Line {
  const signal = {
    ...mine,
    workerName: 'worker',
    status,
    phase: 1,
    startedAt: moment(0),
    updatedAt: moment(0),
    repo: 'acme/web',
    pr: { number: 42 },
    ...more.signal,
  };
  const detail = { signal, hash: 'h' };
  return [
    `orchestrator.worker.${more.event ?? 'status_changed'}`,
    { scope: mine, detail },
    more.policy ?? ship,
  ];
}
const own = (event: string, detail: object = {}, more: object = {}): Line => [
  event,
  { scope: { ...mine, ...more }, detail: { ...detail } },
];
const byPerson = (action: string, reason: string): Line => [
  `comms.attention_${action}`,
  { source: 'cli', scope: mine, detail: { reason, by: 'kim' } },
];
const pull = (action: string, detail: object = {}): Line => [
  `codehost.pr.${action}`,
  {
    scope,
    detail: { state: action === 'closed' ? 'closed' : 'open', draft: false, merged: false, ...detail },
  },
];
const merged: Line = [
  'codehost.pr.merged',
  { scope: { ...scope, mergeSha: 'merge' }, detail: { state: 'closed', merged: true, mergedAt: moment(1) } },
];
const deployed = (state: string, id = 1, sha = 'merge', environment = 'production'): Line => [
  state === 'created' ? 'codehost.deployment.created' : `codehost.deployment_status.${state}`,
  { scope: { repo: 'acme/web', sha, environment, deploymentId: id } },
];

/** Folds the lines; lines to append follow directly, as the outbox would do it. */
function play(lines: readonly Line[], { appends = true, board = emptyBoard() } = {}) {
  const effects: Effect[] = [];
  const drafts: EventFields[] = [];
  const fold = (event: string, more?: LineFields): void => {
    const asked = foldLine(board, logged(board.seq + 1, event, more));
    effects.push(...asked);
    for (const effect of asked) {
      if (effect.kind !== 'append') continue;
      drafts.push(effect.draft);
      const { event: topic, ...line } = effect.draft;
      if (appends) fold(topic, line);
    }
  };
  for (const [event, more, policy] of lines) {
    if (policy !== undefined) withPolicyOf(board, 'acme/web', policy);
    fold(event, more);
  }
  const { workers, attention } = board;
  const kinds = effects.filter(({ kind }) => kind !== 'append').map(({ kind }) => kind);
  const reported = drafts.map(({ event, detail }: EventFields) =>
    [event, detail['reason']].filter(Boolean).join(' '),
  );
  return {
    board,
    effects,
    drafts,
    kinds,
    topics: reported,
    worker: workers.get('run-1/ENG-42'),
    open: [...attention.keys()],
  };
}

test('an advisory failure of the verification is not filed', () => {
  const failed = (advisory: boolean) =>
    play([worker('merging'), own('orchestrator.verification.failed', { summary: 'no tests', advisory })])
      .kinds;
  expect(failed(false)).toContain('file-remediation');
  expect(failed(true)).not.toContain('file-remediation');
});

describe('workers and pull requests', () => {
  test.each<[string, Line[], Partial<Worker>, Effect['kind'][]]>([
    [
      'a worker reports its status',
      [worker('implementing')],
      { status: 'implementing', repo: 'acme/web' },
      [],
    ],
    [
      'merged, without verification',
      [worker('merging', { policy: skip }), merged],
      { status: 'done' },
      ['write-signal', 'move-ticket'],
    ],
    ['merged', [worker('merging'), merged], { status: 'merged' }, ['write-signal']],
    [
      'merged before the worker was known',
      [merged, worker('merging')],
      { status: 'merged' },
      ['write-signal'],
    ],
    [
      'the file reports merged, and it is',
      [merged, worker('merged')],
      { status: 'merged', claim: null },
      ['write-signal'],
    ],
    [
      'by branch',
      [worker('merging', { signal: { pr: null, branch: 'eng-42' }, policy: skip }), merged],
      { status: 'done' },
      ['write-signal', 'move-ticket'],
    ],
    [
      'by a branch that is reported later',
      [
        worker('merging', { signal: { pr: null } }),
        merged,
        worker('merging', { signal: { pr: null, branch: 'eng-42' } }),
      ],
      { status: 'merged' },
      ['write-signal'],
    ],
    [
      'by a branch that is known only after the merge',
      [
        worker('merging', { signal: { pr: null, branch: 'eng-42' } }),
        ['codehost.pr.merged', { scope: { repo: 'acme/web', pr: 42, mergeSha: 'merge' } }],
        pull('labeled'),
      ],
      { status: 'merged' },
      ['write-signal'],
    ],
    [
      'a merge on that branch from before the worker started',
      [merged, worker('merging', { signal: { pr: null, branch: 'eng-42', startedAt: moment(2) } })],
      { status: 'merging' },
      [],
    ],
    [
      'a branch of a fork',
      [
        worker('merging', { signal: { pr: null, branch: 'eng-42' } }),
        pull('opened', { headRepo: 'other/web' }),
        merged,
      ],
      { status: 'merging' },
      [],
    ],
    ['a canceled worker stays canceled', [worker('canceled'), merged], { status: 'canceled' }, []],
    [
      'a merge of another pull request',
      [worker('merging', { signal: { pr: { number: 7 } } }), merged],
      { status: 'merging' },
      [],
    ],
    [
      'the pull request is named by its URL',
      [
        worker('merging', {
          signal: { repo: null, pr: { url: 'https://codehost.example/acme/web/pull/42' } },
        }),
        merged,
      ],
      { status: 'merged' },
      ['write-signal'],
    ],
    [
      'a repeated merge',
      [worker('merging', { policy: skip }), merged, merged],
      { status: 'done' },
      ['write-signal', 'move-ticket'],
    ],
  ])('%s', (_name, lines, expected, kinds) => {
    const played = play(lines);
    expect(played.worker).toMatchObject(expected);
    expect(played.kinds).toEqual(kinds);
  });

  test('what is written into the signal file', () => {
    const { effects } = play([worker('merging'), merged]);
    expect(effects).toEqual([
      {
        key: '2:write-signal:run-1/ENG-42',
        seq: 2,
        kind: 'write-signal',
        ...mine,
        status: 'merged',
        pr: { number: 42, state: 'merged', mergedAt: moment(1), mergeSha: 'merge' },
        deploy: expect.objectContaining({ deadline: moment(1801) }),
      },
    ]);
  });

  test('nothing is written for a deleted file', () => {
    const { kinds, worker: known } = play([
      worker('merging', { policy: skip }),
      own('orchestrator.worker.removed'),
      merged,
    ]);
    expect(known).toMatchObject({ status: 'done', removed: true });
    expect(kinds).toEqual(['move-ticket']);
  });
});

describe('deploys', () => {
  const waiting = [worker('merging'), merged];
  test.each<[string, Line[], Partial<Worker>, string[]]>([
    [
      'ships',
      [...waiting, deployed('created'), deployed('success')],
      { status: 'done' },
      ['orchestrator.deploy.started', 'orchestrator.deploy.succeeded'],
    ],
    ...['created', 'pending', 'in_progress'].map((state): [string, Line[], Partial<Worker>, string[]] => [
      `starts when ${state} is reported`,
      [...waiting, deployed(state)],
      { status: 'deploying' },
      ['orchestrator.deploy.started'],
    ]),
    ...['failure', 'error'].map((state): [string, Line[], Partial<Worker>, string[]] => [
      `fails when ${state} is reported`,
      [...waiting, deployed(state)],
      { status: 'deploy-failed' },
      ['orchestrator.deploy.failed', 'comms.attention deploy-failed'],
    ]),
    [
      'another environment',
      [...waiting, deployed('success', 1, 'merge', 'staging')],
      { status: 'merged' },
      [],
    ],
    [
      'another repository',
      [
        ...waiting,
        [
          'codehost.deployment_status.success',
          { scope: { repo: 'acme/api', sha: 'merge', environment: 'production', deploymentId: 1 } },
        ],
      ],
      { status: 'merged' },
      [],
    ],
    [
      'fails and ships',
      [...waiting, deployed('failure'), deployed('success', 2)],
      { status: 'done' },
      [
        'orchestrator.deploy.failed',
        'comms.attention deploy-failed',
        'orchestrator.deploy.succeeded',
        'comms.attention_resolved deploy-failed',
      ],
    ],
    ['time passes', [...waiting, own('orchestrator.deploy.timed_out', {}, {})], { status: 'merged' }, []],
    [
      'a person accepts',
      [...waiting, own('orchestrator.deploy.accepted', { by: 'ada' })],
      { status: 'done' },
      [],
    ],
  ])('%s', (_name, lines, expected, reported) => {
    const played = play(lines);
    expect(played.worker).toMatchObject(expected);
    expect(played.topics).toEqual(reported);
  });

  test('it has shipped in whatever order the file, the merge and the deployment arrive', () => {
    const lines = [worker('merging'), merged, deployed('created'), deployed('success')];
    for (const order of orders(lines)) {
      const played = play(order);
      expect(played.worker, order.map(([event]) => event).join(' ')).toMatchObject({ status: 'done' });
      expect(played.kinds).toContain('move-ticket');
    }
  });

  test('the deadline is in the log', () => {
    const { worker: known, open } = play([
      ...waiting,
      ['orchestrator.deploy.timed_out', { scope: mine, ts: moment(9999) }],
    ]);
    expect(known).toMatchObject({ status: 'stalled', deploy: { result: 'timeout' } });
    expect(open).toEqual(['run-1/ENG-42/deploy-timeout']);
  });

  test('a person retries after the budget is exhausted; deployments since then count', () => {
    const failed = [deployed('failure', 1), deployed('failure', 2), deployed('failure', 3)];
    const exhausted = play([...waiting, ...failed, deployed('success', 4)]);
    expect(exhausted.worker).toMatchObject({
      status: 'deploy-failed',
      deploy: { result: 'budget-exhausted' },
    });
    expect(exhausted.open).toEqual(['run-1/ENG-42/deploy-budget-exhausted']);
    const retried = play([own('orchestrator.deploy.retried', { by: 'ada' })], { board: exhausted.board });
    expect(retried.worker).toMatchObject({ status: 'done', deploy: { attempts: [] } });
    expect(retried.open).toEqual([]);
  });

  test('a later commit is proven once, and then its deployments count', () => {
    const later = [
      deployed('created', 5, 'later'),
      deployed('in_progress', 5, 'later'),
      deployed('success', 5, 'later'),
    ];
    const asked = play([...waiting, ...later]);
    expect(asked.effects.filter(({ kind }) => kind === 'prove-descendant')).toEqual([
      {
        key: '3:prove-descendant:merge..later',
        seq: 3,
        kind: 'prove-descendant',
        repo: 'acme/web',
        mergeSha: 'merge',
        sha: 'later',
        worktreePath: null,
      },
    ]);
    const shas = { mergeSha: 'merge', sha: 'later' };
    const no = play([own('orchestrator.deploy.descendant_checked', { contains: false }, shas)], {
      board: asked.board,
    });
    expect(no.worker?.status).toBe('merged');
    const unknowns = (board: Board) => whyTicket(board, 'ENG-42', 0)?.unknown;
    expect(unknowns(no.board)).toContain(
      'Deployment 5 is of later, which is not proven to contain the merge.',
    );
    const reverted = { contains: false, reverted: true };
    const undone = play([own('orchestrator.deploy.descendant_checked', reverted, shas)], {
      board: asked.board,
    });
    expect(unknowns(undone.board)).toContain(
      'Deployment 5 is of later, which comes after the merge, but its change was reverted in between.',
    );
    const yes = play([own('orchestrator.deploy.descendant_checked', { contains: true }, shas)], {
      board: asked.board,
    });
    expect(yes.worker).toMatchObject({
      status: 'done',
      deploy: { provenBy: { deploymentId: 5, sha: 'later' } },
    });
  });

  describe('two workers with the same merge', () => {
    const second = { orchestrator: 'run-2', ticket: 'ENG-42' };
    const inRun2 = ([event, fields]: Line): Line => [event, { ...fields, scope: second }];
    const proofs = ({ effects }: ReturnType<typeof play>) =>
      effects.filter(({ kind }) => kind === 'prove-descendant');
    const later = deployed('success', 5, 'later');
    const shas = { mergeSha: 'merge', sha: 'later', repo: 'acme/web' };
    const contains: Line = [
      'orchestrator.deploy.descendant_checked',
      { scope: shas, detail: { contains: true } },
    ];
    const statuses = ({ board }: ReturnType<typeof play>) =>
      [...board.workers.values()].map(({ status }) => status);

    test.each<[string, Line[], number]>([
      ['both wait when it is deployed', [...waiting, inRun2(worker('merging')), later, contains], 1],
      ['one comes while it is being checked', [...waiting, later, inRun2(worker('merging')), contains], 1],
      [
        'one comes after the answer, while the other still waits',
        [...waiting, deployed('in_progress', 5, 'later'), contains, inRun2(worker('merging')), later],
        1,
      ],
      ['one comes when the other is done', [...waiting, later, contains, inRun2(worker('merging'))], 1],
    ])('check a later commit once: %s', (_name, lines, asked) => {
      const played = play(lines);
      expect([proofs(played).length, statuses(played)]).toEqual([asked, ['done', 'done']]);
    });

    test('an answer that the other did not take is asked for again', () => {
      const shipped = [...waiting, later, deployed('success', 6), contains];
      const played = play([...shipped, inRun2(worker('merging')), contains]);
      expect(statuses(played)).toEqual(['done', 'done']);
    });

    test('the one with a worktree asks git, even if the other asked the code host', () => {
      const withWorktree = inRun2(worker('merging', { signal: { worktreePath: '/w' } }));
      expect(proofs(play([...waiting, later, withWorktree]))).toMatchObject([
        { worktreePath: null },
        { worktreePath: '/w' },
      ]);
    });

    test('a retry asks again for both', () => {
      const failed = [1, 2, 3].map((id) => deployed('failure', id));
      const retried = own('orchestrator.deploy.retried', { by: 'ada' });
      const played = play([...waiting, inRun2(worker('merging')), later, ...failed, retried]);
      expect(proofs(played)).toHaveLength(2);
    });
  });

  test('a later commit that was deployed before the worker was known is checked too', () => {
    const lines = [
      deployed('success', 4, 'before'),
      merged,
      deployed('success', 5, 'later'),
      worker('merging'),
    ];
    const { effects } = play(
      lines.with(0, ['codehost.deployment_status.success', { ...lines[0]?.[1], occurredAt: moment(0) }]),
    );
    const proofs = effects.flatMap((effect) => (effect.kind === 'prove-descendant' ? [effect.sha] : []));
    expect(proofs).toEqual(['later']);
  });
});

describe('attention', () => {
  const daysBefore = (days: number): string => moment(-days * 24 * 60 * 60);
  const died = own('orchestrator.worker.died');
  test.each<[string, Line[], string[]]>([
    ['closed', [worker('pr-created'), pull('opened'), pull('closed')], ['pr-closed']],
    ['closed before the worker was known', [pull('closed'), worker('pr-created')], ['pr-closed']],
    ['closed and reopened', [worker('pr-created'), pull('closed'), pull('reopened')], []],
    ['closed and merged after all', [worker('pr-created'), pull('closed'), merged], []],
    ['closed, and the worker is canceled', [worker('pr-created'), pull('closed'), worker('canceled')], []],
    [
      'closed, and the worker has another',
      [worker('pr-created'), pull('closed'), worker('pr-created', { signal: { pr: { number: 43 } } })],
      [],
    ],
    ['closed, of an ended worker', [worker('failed'), pull('closed')], []],
    ['dead', [worker('planning'), died], ['worker-dead']],
    ['dead, twice', [worker('planning'), died, died], ['worker-dead']],
    [
      'dead, about to be revived',
      [worker('planning'), own('orchestrator.worker.died', { willRevive: true })],
      [],
    ],
    ['revived', [worker('planning'), died, own('orchestrator.worker.revived')], []],
    ['dead, and marked failed', [worker('planning'), died, worker('failed')], ['worker-dead']],
    [
      'dead, marked failed, then canceled',
      [worker('planning'), died, worker('failed'), worker('canceled')],
      [],
    ],
    ['dead, and restarted by a person', [worker('planning'), died, own('orchestrator.worker.retried')], []],
    ['dead, then a pull request', [worker('planning'), died, pull('opened'), worker('pr-created')], []],
    ['dead, and claims a pull request', [worker('planning'), died, worker('pr-created')], ['pr-unproven']],
    ['stalled before a merge', [worker('planning'), worker('stalled')], ['worker-stalled']],
    ['dead, and done by its merge', [worker('merging', { policy: skip }), died, merged], []],
    ['dead after its end', [worker('failed'), died], []],
    ['corrupt', [own('orchestrator.worker.corrupt', { path: '/f', problem: 'torn' })], ['signal-corrupt']],
    [
      'readable again',
      [own('orchestrator.worker.corrupt', { path: '/f', problem: 'torn' }), worker('planning')],
      [],
    ],
    ['done without a proof', [worker('done')], ['done-unproven']],
    [
      'done without a proof, in a file that was a day old when first seen',
      [worker('done', { signal: { updatedAt: daysBefore(1) } })],
      [],
    ],
    [
      'done without a proof, in an old file of a worker that was seen working',
      [worker('merging'), worker('done', { signal: { updatedAt: daysBefore(9) } })],
      ['done-unproven'],
    ],
    [
      'done without a proof, claimed again after the worker was seen working',
      [worker('done', { signal: { updatedAt: daysBefore(9) } }), worker('merging'), worker('done')],
      ['done-unproven'],
    ],
    ['done, and proven after all', [worker('done', { policy: skip }), merged], []],
    [
      'resolved by a person while the process is dead',
      [worker('planning'), died, byPerson('resolved', 'worker-dead')],
      ['worker-dead'],
    ],
    [
      'that has no checkable cause, resolved by a person',
      [worker('planning'), own('comms.attention', { reason: 'question' }), byPerson('resolved', 'question')],
      [],
    ],
  ])('%s', (_name, lines, reasons) => {
    expect(play(lines).open).toEqual(reasons.map((reason) => `run-1/ENG-42/${reason}`));
  });

  test('a raised item can be appended, and its remedy names the ticket', () => {
    const { drafts, effects } = play([worker('planning'), died]);
    expect(drafts).toHaveLength(1);
    expect(drafts[0]).toMatchObject({
      event: 'comms.attention',
      scope: { ...mine, repo: 'acme/web', pr: 42 },
      detail: {
        reason: 'worker-dead',
        remedy: 'svc orchestrate retry run-1 ENG-42',
        severity: 'high',
        evidence: [2],
      },
    });
    expect(effects.at(-1)).toMatchObject({ kind: 'notify', attention: 'run-1/ENG-42/worker-dead' });
    for (const draft of play([worker('merging'), merged, deployed('failure'), deployed('success', 2)]).drafts)
      expect(parseEventDraft(topics, draft)).toMatchObject({ ok: true });
  });

  test('shows the end of standard error of a dead process, until another one runs', () => {
    const stderr = 'starting\nexec: claude: not found';
    const withErrors = own('orchestrator.worker.died', { stderr });
    const { drafts, worker: known } = play([worker('planning'), withErrors]);
    expect(known?.process).toMatchObject({ state: 'dead', stderr });
    expect(drafts[0]?.detail).toHaveProperty(
      'message',
      'The agent’s process is gone; its last status is planning. Its standard error ends with: starting | exec: claude: not found',
    );
    const later = play([worker('planning'), withErrors, own('orchestrator.worker.revived')]);
    expect(later.worker?.process).not.toHaveProperty('stderr');
  });

  test('notifies once while an item is open, and again when it comes back', () => {
    const raised = own('comms.attention', { reason: 'auth-failing', severity: 'high' });
    const resolved = own('comms.attention_resolved', { reason: 'auth-failing' });
    const notices = (lines: Line[]) => play(lines).kinds.filter((kind) => kind === 'notify');
    expect(notices([raised, raised, raised])).toHaveLength(1);
    expect(notices([raised, resolved, raised])).toHaveLength(2);
  });

  test('an item whose cause is gone before it is appended is resolved without a notification', () => {
    const { board, drafts } = play([worker('planning'), died, own('orchestrator.worker.revived')], {
      appends: false,
    });
    const [raised, resolved] = drafts;
    expect([raised?.event, resolved?.event]).toEqual(['comms.attention', 'comms.attention_resolved']);
    // The outbox may run them in the other order.
    const other = play(
      [
        [resolved?.event ?? '', resolved],
        [raised?.event ?? '', raised],
      ] as Line[],
      { board },
    );
    expect(other.open).toEqual([]);
    expect(other.kinds).toEqual([]);
  });
});

describe('effects of other lines', () => {
  const unknown = { mergeable: undefined, mergeableState: 'unknown' };
  const suite: Line = [
    'codehost.check_suite.completed',
    { scope, detail: { suiteId: 1, conclusion: 'success' } },
  ];
  test('a worker whose pull request is merged does not move its ticket back; a person does', () => {
    const kindsOf = (line: Line) =>
      play([worker('merging'), merged, line]).effects.flatMap(({ seq, kind }) => (seq === 3 ? kind : []));
    expect(kindsOf(own('workflow.ticket.phase_changed', { to: 'inReview' }))).toEqual([]);
    const byHand = { scope: { ticket: mine.ticket }, detail: { to: 'inReview' } };
    expect(kindsOf(['workflow.ticket.phase_changed', byHand])).toEqual(['move-ticket']);
  });

  test.each<[string, Line[], string[]]>([
    [
      'the merge state is requested once',
      [
        worker('pr-created'),
        pull('opened', unknown),
        suite,
        ['codehost.check_suite.completed', { scope, detail: { suiteId: 2, conclusion: 'success' } }],
      ],
      ['3:refresh-pull-request:acme/web#42'],
    ],
    [
      'and again after an answer',
      [
        worker('pr-created'),
        pull('opened', unknown),
        suite,
        pull('labeled', unknown),
        ['codehost.pr_review.submitted', { scope, detail: { reviewer: 'kim', state: 'approved' } }],
      ],
      ['3:refresh-pull-request:acme/web#42', '5:refresh-pull-request:acme/web#42'],
    ],
    ['not without a waiting worker', [pull('opened', unknown), suite], []],
    [
      'not when it is known',
      [worker('pr-created'), pull('opened', { mergeable: true, mergeableState: 'clean' }), suite],
      [],
    ],
    [
      'a phase moves the ticket',
      [own('workflow.ticket.phase_changed', { to: 'inReview' })],
      ['1:move-ticket:ENG-42'],
    ],
    ['an unknown phase', [own('workflow.ticket.phase_changed', { to: 'lunch' })], []],
    [
      'the echo of our own write',
      [['tracker.issue.state_changed', { scope: { ticket: 'ENG-42' }, detail: { state: { name: 'Done' } } }]],
      [],
    ],
    [
      'an item raised by another program',
      [
        [
          'comms.attention',
          { detail: { reason: 'feed-blind', feed: 'codehost', message: 'x', severity: 'high' } },
        ],
      ],
      ['1:notify:-/codehost/feed-blind'],
    ],
  ])('%s', (_name, lines, keys) => {
    expect(play(lines).effects.map(({ key }) => key)).toEqual(keys);
  });

  test.each([
    ['status', 'codehost.status.failure', { context: 'ci', state: 'failure' }],
    ['push', 'codehost.push', { commits: 1 }],
  ])('%s is only logged: the board stays as it is', (_name, event, detail) => {
    const before = [worker('pr-created'), pull('opened', { mergeable: true, mergeableState: 'clean' })];
    const known = play(before).board;
    const { board, effects } = play([...before, [event, { scope, detail }]]);
    const { seq, at, ...rest } = packBoard(board);
    expect(packBoard(known)).toMatchObject(rest);
    expect(effects.filter((effect) => effect.seq === seq)).toEqual([]);
    expect(at).not.toBe(known.at);
  });

  test('the URL of a head deployment outside production is a preview', () => {
    const at = (environment: string): Line => [
      'codehost.deployment_status.success',
      {
        scope: { repo: 'acme/web', sha: 'head', environment, deploymentId: environment.length },
        detail: { environmentUrl: `https://${environment}.example` },
      },
    ];
    const previews = (lines: Line[]) => play(lines).board.pullRequests.get('acme/web#42')?.previews;
    expect(previews([pull('opened'), at('preview'), at('Production')])).toEqual(['https://preview.example']);
    expect(previews([at('preview'), pull('opened')])).toEqual(['https://preview.example']);
  });
});

describe('bounds', () => {
  const at = (board: Board, seq: number, days: number): FoldedLine => ({
    ...logged(seq, 'codehost.push'),
    ts: new Date(Date.parse(board.at ?? '') + days * 86_400_000).toISOString(),
  });

  test('settled entities are dropped after 30 days, deployments after 7; open ones stay', () => {
    const { board } = play([
      worker('implementing'),
      pull('opened'),
      ['codehost.pr.closed', { scope: { ...scope, pr: 43, sha: 'old' }, detail: { state: 'closed' } }],
      deployed('success'),
      ['tracker.issue.created', { scope: { ticket: 'ENG-42' } }],
      ['orchestrator.run.completed', { scope: { orchestrator: 'run-0' } }],
    ]);
    foldLine(board, at(board, 10_000, 29));
    expect([board.pullRequests.size, board.deployments.size, board.tickets.size]).toEqual([2, 0, 1]);
    foldLine(board, at(board, 20_000, 2));
    expect([...board.pullRequests.keys()]).toEqual(['acme/web#42']);
    expect([board.workers.size, board.deployments.size, board.tickets.size]).toEqual([1, 0, 0]);
    expect([...board.runs.keys()]).toEqual([]);
    expect(board.links.deploymentsByCommit.size).toBe(0);
    const known = board.workers.get('run-1/ENG-42');
    expect(known && pullRequestOfWorker(board, known)).toMatchObject({ number: 42 });
  });

  test('above the cap, the oldest settled entities are dropped', () => {
    const board = emptyBoard();
    for (let number = 1; number <= 10_500; number += 1)
      foldLine(
        board,
        logged(number, number === 1 ? 'codehost.pr.opened' : 'codehost.pr.closed', {
          scope: { repo: 'acme/web', pr: number, sha: `s${number}` },
        }),
      );
    expect(board.pullRequests.size).toBe(10_500);
    foldLine(board, logged(20_000, 'codehost.push'));
    expect(board.pullRequests.size).toBe(10_000);
    expect(board.pullRequests.has('acme/web#1')).toBe(true);
    expect(board.pullRequests.has('acme/web#501')).toBe(false);
    expect(board.pullRequests.has('acme/web#502')).toBe(true);
    expect(board.links.pullRequestsByHead.size).toBe(10_000);
  });
});

test.each([[undefined], [{}], [{ form: 0 }], ['text'], [{ form: 2, seq: 1, at: null, workers: 3 }]])(
  'refuses what is not a packed board: %j',
  (json) => {
    expect(() => unpackBoard(json)).toThrow('not a board');
  },
);

function orders<Item>(items: readonly Item[]): Item[][] {
  if (items.length <= 1) return [[...items]];
  return items.flatMap((first, index) => orders(items.toSpliced(index, 1)).map((rest) => [first, ...rest]));
}
