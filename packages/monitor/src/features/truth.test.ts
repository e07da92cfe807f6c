// What must never make a ticket done: a success elsewhere, a pull request of somebody else, a policy that went away.

import { describe, expect, test } from 'vitest';
import { type LineFields, logged, moment } from '../kernel/board/testing/lines.ts';
import { type EventFields, parseEventDraft } from '../kernel/log/event-line.ts';
import type { Effect } from '../kernel/outbox/effect.ts';
import { emptyBoard, foldLine, packBoard, unpackBoard } from './board.ts';
import { awaitedDeploys } from './deploy/watched.ts';
import { heldBack } from './tickets/held-ticket.ts';
import { receipt } from './tickets/receipt.ts';
import { createLookup } from './tickets/subject.ts';
import { topics } from './topics.ts';
import { whyTicket } from './why/why.ts';

const strict = {
  timeoutSec: 1800,
  productionEnvironment: 'production',
  stagingEnvironment: 'staging',
  skipDeployVerification: false,
  acceptDescendants: true,
};
type Line = [event: string, more?: LineFields];

const config = (deploy: object, more: object = {}): Line => [
  'monitor.config.applied',
  {
    source: 'monitor',
    scope: {},
    detail: { project: '/web', served: true, keys: [], deploy, relaxes: [], others: 'default', ...more },
  },
];
const requires = config({ 'acme/web': strict }, { tickets: { prefix: 'ENG', repo: 'acme/web' } });
const lax = { ...strict, skipDeployVerification: true };

function worker(ticket: string, signal: object = {}, orchestrator = 'run-1'): Line {
  const scope = { orchestrator, ticket };
  const file = {
    ...scope,
    workerName: ticket,
    status: 'pr-created',
    phase: 1,
    startedAt: moment(0),
    updatedAt: moment(0),
    repo: 'acme/web',
    branch: 'eng-1-login',
    pr: { number: 1 },
    ...signal,
  };
  return [
    'orchestrator.worker.status_changed',
    { scope, detail: { to: file.status, signal: file, hash: 'h' } },
  ];
}
const merged = (given: { number?: number; scope?: object; detail?: object } = {}): Line => [
  'codehost.pr.merged',
  {
    scope: {
      repo: 'acme/web',
      pr: given.number ?? 1,
      branch: 'eng-1-login',
      sha: 'head',
      mergeSha: 'merge',
      ...given.scope,
    },
    detail: { state: 'closed', merged: true, mergedAt: moment(40), headRepo: 'acme/web', ...given.detail },
  },
];
const status = (state: string, given: { scope?: object; detail?: object } = {}): Line => [
  `codehost.deployment_status.${state}`,
  {
    scope: { repo: 'acme/web', sha: 'merge', environment: 'production', deploymentId: 7, ...given.scope },
    detail: { state, task: 'deploy', ...given.detail },
  },
];

function play(...lines: Line[]) {
  let board = emptyBoard();
  const effects: Effect[] = [];
  const fold = (event: string, more?: LineFields): void => {
    const asked = foldLine(board, logged(board.seq + 1, event, more));
    effects.push(...asked);
    for (const effect of asked) {
      if (effect.kind !== 'append') continue;
      expect(parseEventDraft(topics, effect.draft)).toMatchObject({ ok: true });
      const { event: topic, ...line }: EventFields = effect.draft;
      fold(topic, line);
    }
  };
  for (const [event, more] of lines) {
    fold(event, more);
    // A restart at any line changes nothing.
    board = unpackBoard(JSON.parse(JSON.stringify(packBoard(board))));
  }
  return { board, effects };
}

/** Every surface gives the same answer. */
function answers(ticket: string, ...lines: Line[]) {
  const { board, effects } = play(...lines);
  const shipped = receipt(board, ticket)?.shipped;
  expect(whyTicket(board, ticket, 0)?.shipped).toBe(shipped);
  const written = effects.flatMap((effect) =>
    effect.kind === 'write-signal' && effect.ticket === ticket ? [effect.status] : [],
  );
  const moved = effects.some((effect) => effect.kind === 'move-ticket' && effect.phase === 'done');
  const board1 = receipt(board, ticket)?.status;
  if (board1 !== 'unknown') expect([board1 === 'done', written.includes('done')]).toEqual([moved, moved]);
  return { shipped, moved, status: board1, board };
}

describe('a status keeps its environment, its task and its commit', () => {
  test.each<[string, Line[], boolean]>([
    ['a success in production', [status('success')], true],
    [
      'a success in staging, then under way in production',
      [status('success', { scope: { environment: 'staging' } }), status('in_progress')],
      false,
    ],
    [
      'a success in staging, then inactive in production',
      [status('success', { scope: { environment: 'staging' } }), status('inactive')],
      false,
    ],
    [
      'a late success of staging after the start in production',
      [status('in_progress'), status('success', { scope: { environment: 'staging' } })],
      false,
    ],
    [
      'promoted: a success in staging, then one in production',
      [status('success', { scope: { environment: 'staging' } }), status('success')],
      true,
    ],
    ['a rollback', [status('success', { detail: { task: 'rollback' } })], false],
    ['a migration', [status('success', { detail: { task: 'deploy:migrations' } })], false],
    ['no task', [status('success', { detail: { task: undefined } })], true],
    [
      'another commit under the same id',
      [status('in_progress', { scope: { sha: 'other' } }), status('success')],
      false,
    ],
  ])('%s', (_, lines, shipped) => {
    expect(answers('ENG-1', requires, worker('ENG-1'), merged(), ...lines).shipped).toBe(shipped);
    // The worker may become known last.
    expect(answers('ENG-1', requires, ...lines, merged(), worker('ENG-1')).shipped).toBe(shipped);
  });
});

describe('a pull request is the worker’s own only if branch or ticket agree, and the time', () => {
  const deployed = status('success');
  test.each<[string, Line, Line, boolean]>([
    ['named, and of its branch', worker('ENG-1'), merged(), true],
    [
      'named, of another branch, with its ticket',
      worker('ENG-1', { branch: 'mine' }),
      merged({ scope: { ticket: 'ENG-1' } }),
      true,
    ],
    [
      'named, but of another ticket',
      worker('ENG-2', { branch: 'eng-2-mine' }),
      merged({ scope: { ticket: 'ENG-1' } }),
      false,
    ],
    ['named, and of nobody', worker('ENG-2', { branch: null }), merged(), false],
    [
      'merged before the worker started',
      worker('ENG-1', { startedAt: moment(5) }),
      merged({ detail: { mergedAt: moment(1) } }),
      false,
    ],
    [
      'merged in the second in which the worker started: the code host rounds',
      worker('ENG-1', { startedAt: moment(5).replace('.000Z', '.600Z') }),
      merged({ detail: { mergedAt: moment(5) } }),
      true,
    ],
    ['found by its branch', worker('ENG-1', { pr: null }), merged(), true],
    [
      'a fork’s branch of the same name',
      worker('ENG-1', { pr: null }),
      merged({ detail: { headRepo: 'evil/web' } }),
      false,
    ],
    [
      'named, and a fork’s branch of the same name',
      worker('ENG-1'),
      merged({ detail: { headRepo: 'evil/web' } }),
      false,
    ],
    ['another is named, which was never seen', worker('ENG-1', { pr: { number: 9 } }), merged(), true],
    [
      'a deleted fork whose branch has the name of the ticket',
      worker('ENG-1'),
      merged({ scope: { ticket: 'ENG-1' }, detail: { headRepo: 'evil/(deleted)' } }),
      false,
    ],
    [
      'a fork whose branch has the name of the ticket, and the file names it',
      worker('ENG-1'),
      merged({ scope: { ticket: 'ENG-1' }, detail: { headRepo: 'kim/web' } }),
      true,
    ],
  ])('%s', (_, file, merge, shipped) => {
    const ticket = file[1]?.scope?.ticket ?? '';
    expect(answers(ticket, requires, file, merge, deployed).shipped).toBe(shipped);
    expect(answers(ticket, requires, merge, deployed, file).shipped).toBe(shipped);
  });

  test('a foreign one that is named is shown as what it is', () => {
    const { board } = play(
      requires,
      worker('ENG-2', { branch: 'eng-2-mine' }),
      merged({ scope: { ticket: 'ENG-1' } }),
      deployed,
    );
    expect(whyTicket(board, 'ENG-2', 0)?.contradictions).toEqual([
      'The agent names acme/web#1, which belongs to ENG-1, not to ENG-2 (branch eng-2-mine), or ended before the agent started. It does not count.',
    ]);
  });

  test.each<[string, object, object]>([
    ['the branch of another', { branch: 'eng-2-mine', pr: null }, { branch: 'eng-1-login' }],
    ['an earlier start', { startedAt: moment(5) }, { startedAt: moment(0) }],
  ])('a later file that names %s does not make it its own', (_, first, later) => {
    const earlier = merged({ detail: { mergedAt: moment(1) } });
    const files = [worker('ENG-2', { ...first, status: 'implementing' }), worker('ENG-2', later)];
    expect(answers('ENG-2', requires, ...files, earlier, deployed).shipped).toBe(false);
    expect(answers('ENG-2', requires, earlier, deployed, ...files).shipped).toBe(false);
  });

  test('one that is named turns out to be older than the worker: its own one counts, which was merged before', () => {
    const older = merged({
      number: 2,
      scope: { branch: 'other', ticket: 'ENG-1', mergeSha: 'older' },
      detail: { mergedAt: moment(1) },
    });
    const open: Line = [
      'codehost.pr.opened',
      { scope: { repo: 'acme/web', pr: 2, branch: 'other', ticket: 'ENG-1' }, detail: { state: 'open' } },
    ];
    const named = worker('ENG-1', { startedAt: moment(9), pr: { number: 2 } });
    expect(answers('ENG-1', requires, open, named, merged(), deployed, older).shipped).toBe(true);
  });

  test('after the merge the file cannot choose another repository', () => {
    const { board } = play(
      requires,
      worker('ENG-1'),
      merged(),
      worker('ENG-1', { repo: 'acme/free', branch: 'other' }),
    );
    expect(board.workers.get('run-1/ENG-1')).toMatchObject({ repo: 'acme/web', branch: 'eng-1-login' });
  });
});

describe('the policy', () => {
  test.each<[string, Line[], boolean]>([
    ['requires proof', [requires], false],
    ['the entry is gone', [requires, config({})], false],
    ['the project is gone', [requires, config({}, { served: false })], false],
    [
      'another clone skips',
      [config({ 'acme/web': lax }, { project: '/clone', relaxes: ['acme/web'] }), requires],
      false,
    ],
    [
      'the file of the project skips',
      [requires, config({ 'acme/web': lax }, { relaxes: ['acme/web'] })],
      true,
    ],
    ['nobody names it', [config({})], true],
  ])('%s', (_, lines, shipped) => {
    expect(answers('ENG-1', ...lines, worker('ENG-1'), merged()).shipped).toBe(shipped);
    expect(answers('ENG-1', worker('ENG-1'), ...lines, merged()).shipped).toBe(shipped);
  });

  const relaxed = config({ 'acme/web': lax }, { relaxes: ['acme/web'] });

  test('a relaxation is an event, raises attention once, and leaves earlier merges as they are', () => {
    const before = answers('ENG-1', requires, worker('ENG-1'), merged(), relaxed);
    expect(before).toMatchObject({ shipped: false, status: 'merged' });
    expect([...before.board.attention.keys()]).toEqual(['-/-/policy-relaxed-acme-web']);
    // The worker's file appears only after the relaxation.
    expect(answers('ENG-1', requires, merged(), relaxed, worker('ENG-1'))).toMatchObject({
      status: 'merged',
    });
  });

  test('repositories with similar names have relaxations of their own', () => {
    const names = [
      'acme/web',
      'acme/web-2',
      'acme/web.2',
      'acme-web/2',
      'acme/web_2',
      `acme/${'x'.repeat(60)}a`,
      `acme/${'x'.repeat(60)}b`,
    ];
    const all = (policy: typeof lax) => Object.fromEntries(names.map((name) => [name, policy]));
    const { board } = answers(
      'ENG-1',
      config(all({ ...lax, skipDeployVerification: false })),
      config(all(lax), { relaxes: names }),
    );
    const reasons = [...board.attention.values()].map(({ reason }) => reason);
    expect(new Set(reasons).size).toBe(names.length);
    expect(reasons).toContain('policy-relaxed-acme-web');
    for (const reason of reasons) expect(reason).toMatch(/^policy-relaxed-[a-z0-9-]{1,49}$/);
  });

  test('a merge that happened before a relaxation, and became known afterwards, needs proof', () => {
    const early = merged({ detail: { mergedAt: moment(1) } });
    const lines = [config({}), requires, worker('ENG-1'), relaxed];
    expect(answers('ENG-1', ...lines, early)).toMatchObject({ status: 'merged' });
    const late = merged({ detail: { mergedAt: moment(30) } });
    expect(answers('ENG-1', ...lines, late)).toMatchObject({ status: 'done' });
  });

  test('a person relaxes what no served project states', () => {
    const person: Line = [
      'orchestrator.deploy.policy_relaxed',
      { scope: { repo: 'Acme/Web' }, detail: { by: 'kim' } },
    ];
    const gone = config({}, { served: false });
    expect(answers('ENG-1', requires, gone, person, worker('ENG-1'), merged()).shipped).toBe(true);
    expect(answers('ENG-1', requires, person, worker('ENG-1'), merged()).shipped).toBe(false);
  });

  test('while the list of projects cannot be read, a merge waits, and goes on by itself', () => {
    const list = { project: '/config.json', others: 'unknown' };
    const waits = answers('ENG-1', config({}, list), worker('ENG-1'), merged());
    expect(waits).toMatchObject({ shipped: null, status: 'merged' });
    const known = config({}, { ...list, served: false, others: 'default' });
    expect(answers('ENG-1', config({}, list), worker('ENG-1'), merged(), known).shipped).toBe(true);
    expect(answers('ENG-1', config({}, list), worker('ENG-1'), merged(), requires, known).status).toBe(
      'merged',
    );
  });

  test('an environment that is corrected after the merge counts at once', () => {
    const live = config({ 'acme/web': { ...strict, productionEnvironment: 'live' } });
    const success = status('success', { scope: { environment: 'live' } });
    expect(answers('ENG-1', requires, worker('ENG-1'), merged(), success, live).shipped).toBe(true);
    expect(answers('ENG-1', requires, worker('ENG-1'), merged(), live, success).shipped).toBe(true);
  });

  test('a merge in the future does not move the deadline there', () => {
    const { board } = play(
      requires,
      worker('ENG-1'),
      merged({ detail: { mergedAt: '2099-01-01T00:00:00.000Z' } }),
    );
    const { deadline = '' } = board.workers.get('run-1/ENG-1')?.deploy ?? {};
    expect(deadline < '2027').toBe(true);
  });
});

describe('work in a repository that no project names is as strict as the project of its ticket', () => {
  const docs = (ticket = 'ENG-1') => worker(ticket, { repo: 'acme/docs', branch: 'docs', pr: { number: 3 } });
  const mergedDocs = (ticket = 'ENG-1') =>
    merged({
      number: 3,
      scope: { repo: 'acme/docs', branch: 'docs', ticket },
      detail: { headRepo: 'acme/docs' },
    });
  const deployed = status('success', { scope: { repo: 'acme/docs' } });
  const entry = (more: object) => config({ 'acme/web': strict, ...more }, { tickets: { prefix: 'ENG' } });
  const skipsDocs = config(
    { 'acme/web': strict, 'acme/docs': lax },
    { tickets: { prefix: 'ENG' }, relaxes: ['acme/docs'] },
  );
  test.each<[string, Line[], boolean | null]>([
    ['its merge alone is no proof', [requires, docs(), mergedDocs()], false],
    ['its deployment is', [requires, docs(), mergedDocs(), deployed], true],
    ['also by an entry of another repository', [entry({}), docs(), mergedDocs()], false],
    ['one that a project names has its own policy', [skipsDocs, docs(), mergedDocs()], true],
    ['a ticket of another project keeps the default', [requires, docs('OPS-1'), mergedDocs('OPS-1')], true],
    [
      'a project that is no longer served still counts',
      [requires, config({}, { served: false }), docs(), mergedDocs()],
      false,
    ],
    ['without a worker too', [requires, mergedDocs()], null],
    [
      'while another project cannot be read, which may name it, nothing is decided',
      [
        config({}, { project: '/docs', others: 'unknown' }),
        docs(),
        mergedDocs(),
        requires,
        config({ 'acme/docs': lax }, { project: '/docs', relaxes: ['acme/docs'] }),
      ],
      true,
    ],
    ['until it is named as one that skips it', [requires, docs(), skipsDocs, mergedDocs()], true],
    [
      'a merge before that waits',
      [
        requires,
        docs(),
        mergedDocs(),
        config({ 'acme/web': lax }, { tickets: { prefix: 'ENG' }, relaxes: ['acme/web'] }),
      ],
      false,
    ],
  ])('%s', (_, lines, shipped) => {
    const ticket = lines.some(([, more]) => more?.scope?.ticket === 'OPS-1') ? 'OPS-1' : 'ENG-1';
    expect(answers(ticket, ...lines).shipped).toBe(shipped);
  });
});

describe('a ticket is moved to done only with proof', () => {
  const done: Line = [
    'workflow.ticket.phase_changed',
    { scope: { ticket: 'ENG-1' }, detail: { to: 'done' } },
  ];
  const moves = (...lines: Line[]) =>
    play(...lines).effects.filter(({ kind }) => kind === 'move-ticket').length;
  test.each<[string, Line[], number]>([
    ['nothing is known of it', [requires, done], 0],
    ['its pull request is open', [requires, worker('ENG-1'), done], 0],
    ['it is merged', [requires, worker('ENG-1'), merged(), done], 0],
    [
      'it is deployed: once by its worker, once by the report',
      [requires, worker('ENG-1'), merged(), status('success'), done],
      2,
    ],
    ['no proof is required', [config({}), done], 1],
    [
      'its worker names a repository that requires none',
      [requires, worker('ENG-1', { repo: 'acme/free' }), done],
      0,
    ],
    [
      'its worker names one that requires none later',
      [
        config({ 'acme/web': strict }),
        worker('ENG-1', { pr: null }),
        worker('ENG-1', { pr: null, repo: 'acme/free' }),
        done,
      ],
      0,
    ],
    ['the configuration cannot be read', [config({}, { others: 'unknown' }), worker('ENG-1'), done], 0],
  ])('%s', (_, lines, expected) => {
    expect(moves(...lines)).toBe(expected);
  });

  /** The lines after which it was moved, by their index. */
  const movedAfter = (...lines: Line[]) =>
    lines.flatMap((_, index) => {
      const [before, after] = [lines.slice(0, index), lines.slice(0, index + 1)].map((some) =>
        moves(...some),
      );
      return before === after ? [] : [index];
    });
  const byHand = merged({ scope: { ticket: 'ENG-1' } });
  const free = config({ 'acme/web': lax }, { tickets: { prefix: 'ENG' }, relaxes: ['acme/web'] });
  const unreadable = config({}, { others: 'unknown' });
  const relaxed: Line = [
    'orchestrator.deploy.policy_relaxed',
    { source: 'monitor', scope: { repo: 'acme/web' }, detail: { by: 'kim' } },
  ];
  const notServed = config({}, { served: false });
  const phase = (to: string): Line => [
    'workflow.ticket.phase_changed',
    { scope: { ticket: 'ENG-1' }, detail: { to } },
  ];
  const state = (type: string): Line => [
    'tracker.issue.state_changed',
    { source: 'tracker.webhook', scope: { ticket: 'ENG-1' }, detail: { state: { name: type, type } } },
  ];
  const ownMove: Line = [
    'workflow.ticket.state_moved',
    {
      source: 'monitor',
      scope: { ticket: 'ENG-1' },
      detail: { from: 'Todo', to: 'In Review', phase: 'inReview' },
    },
  ];

  test.each<[string, Line[], number[]]>([
    ['by the proof of its merge', [requires, byHand, done, status('in_progress'), status('success')], [4]],
    ['by its merge, which was deployed before', [requires, status('success'), done, byHand], [3]],
    ['once', [requires, byHand, done, status('success'), status('inactive'), requires], [3]],
    [
      'not by a success in staging',
      [requires, byHand, done, status('success', { scope: { environment: 'staging' } })],
      [],
    ],
    [
      'not by another ticket',
      [requires, merged({ scope: { ticket: 'ENG-2' } }), done, status('success')],
      [],
    ],
    ['by a configuration that can be read again and requires none', [unreadable, done, config({})], [2]],
    ['not by one that can be read again and requires it', [unreadable, done, requires], []],
    ['by a project that relaxes it', [requires, done, free], [2]],
    ['by a person that relaxes it', [requires, done, notServed, relaxed], [3]],
    ['not for a merge before it was relaxed', [requires, byHand, done, free], []],
    [
      'unless another phase was reported since',
      [requires, byHand, done, phase('inProgress'), status('success')],
      [3],
    ],
    ['unless a person moved it', [requires, byHand, done, state('completed'), status('success')], []],
    ['also after an earlier move is seen', [requires, byHand, done, ownMove, status('success')], [4]],
    ['once, if a worker of it ships', [requires, done, worker('ENG-1'), merged(), status('success')], [4]],
    ['not by a worker that is under way where none is required', [requires, done, worker('ENG-1'), free], []],
  ])('what no worker carries is held, and released %s', (_, lines, expected) => {
    expect(movedAfter(...lines)).toEqual(expected);
  });

  test('it is released without a restart too', () => {
    const board = emptyBoard();
    const lines = [requires, byHand, done, status('success')].map(([event, more], index) =>
      foldLine(board, logged(index + 1, event, more)).filter(({ kind }) => kind === 'move-ticket'),
    );
    expect(lines.map(({ length }) => length)).toEqual([0, 0, 0, 1]);
  });

  test('its deployment is polled for, which may have been missed', () => {
    const { board } = play(requires, byHand, done);
    const merge = { repo: 'acme/web', sha: 'merge', environment: 'production', mergedAt: moment(40) };
    const at = Date.parse(moment(40));
    expect(awaitedDeploys(board, at, createLookup)).toEqual([{ ...merge, acceptDescendants: false }]);
    expect(awaitedDeploys(board, at + 3 * 86_400_000, createLookup)).toEqual([]);
    const released = play(requires, byHand, done, status('success')).board;
    expect(awaitedDeploys(released, at, createLookup)).toEqual([]);
  });

  test('a ticket that is held says what it waits for', () => {
    const { board } = play(requires, byHand, done);
    expect(board.tickets.get('ENG-1')?.phase).toMatchObject({ phase: 'done', held: true });
    expect(whyTicket(board, 'ENG-1', 0)?.waitsFor).toBe('a verified deployment of it');
    const released = play(requires, byHand, done, status('success')).board;
    expect(released.tickets.get('ENG-1')?.phase).toEqual({ phase: 'done', at: expect.any(String), seq: 3 });
    expect(whyTicket(released, 'ENG-1', 0)?.waitsFor).toBe(null);
  });

  test('what holds it back is said', () => {
    const { board } = play(requires, worker('ENG-1'));
    expect(heldBack(board, 'ENG-1')).toBe('acme/web requires a verified deployment, and none was seen');
  });

  test('a newer run speaks for the ticket', () => {
    const older = [requires, worker('ENG-1'), merged()];
    const newer = worker('ENG-1', { startedAt: moment(9), branch: 'again', pr: null }, 'run-2');
    expect(moves(...older, newer, status('success'))).toBe(0);
    // Also if its agent names an earlier start later.
    const earlier = worker('ENG-1', { branch: 'again', pr: null, startedAt: moment(-9) }, 'run-2');
    expect(moves(...older, newer, earlier, status('success'))).toBe(0);
    expect(
      moves(
        ...older,
        newer,
        status('success'),
        worker('ENG-1', { status: 'canceled', startedAt: moment(9), branch: 'again', pr: null }, 'run-2'),
      ),
    ).toBe(1);
  });
});

describe('stacked pull requests', () => {
  const contained = (mergeSha: string, sha: string, contains = true): Line => [
    'orchestrator.deploy.descendant_checked',
    { source: 'monitor', scope: { repo: 'acme/web', mergeSha, sha }, detail: { contains, by: 'git' } },
  ];
  const first = merged({ detail: { base: 'eng-9-below' } });
  const below = merged({
    number: 9,
    scope: { branch: 'eng-9-below', sha: 'head-9', mergeSha: 'squashed' },
    detail: { base: 'main' },
  });
  const proofs = (lines: Line[]) =>
    play(...lines).effects.flatMap((effect) =>
      effect.kind === 'prove-descendant' ? [`${effect.mergeSha}..${effect.sha}`] : [],
    );
  const success = (sha: string) => status('success', { scope: { sha } });
  /** The other one was squashed: its commit does not come after the merge. */
  const squashed = contained('merge', 'squashed', false);

  test('the deployments of the merge that carries it are polled for too', () => {
    const { board } = play(requires, worker('ENG-1'), first, below, contained('merge', 'head-9'), squashed);
    const awaited = awaitedDeploys(board, Date.parse(moment(40)), createLookup).map(({ sha }) => sha);
    expect(awaited).toEqual(['merge', 'squashed']);
  });

  test('the squashed commit of the other one carries it, once its head is proven to contain it', () => {
    const lines = [requires, worker('ENG-1'), first, below];
    expect(proofs(lines)).toEqual(['merge..head-9']);
    expect(answers('ENG-1', ...lines, success('squashed')).shipped).toBe(false);
    const inHead = [...lines, contained('merge', 'head-9')];
    expect(proofs(inHead)).toEqual(['merge..head-9', 'merge..squashed']);
    expect(answers('ENG-1', ...inHead, success('squashed')).shipped).toBe(false);
    const carried = [...inHead, squashed];
    expect(answers('ENG-1', ...carried, success('squashed')).shipped).toBe(true);
    expect(answers('ENG-1', ...inHead, success('squashed'), squashed).shipped).toBe(true);
    // A later commit has to contain the squashed one.
    expect(proofs([...carried, success('later')])).toEqual([
      'merge..head-9',
      'merge..squashed',
      'merge..later',
      'squashed..later',
    ]);
    const later = [...carried, success('later')];
    expect(answers('ENG-1', ...later, contained('merge', 'later', false)).shipped).toBe(false);
    expect(answers('ENG-1', ...later, contained('squashed', 'later')).shipped).toBe(true);
  });

  test('nothing was pushed after its merge: the merge is the head of the other one', () => {
    const onTop = merged({
      number: 9,
      scope: { branch: 'eng-9-below', sha: 'merge', mergeSha: 'squashed' },
      detail: { base: 'main' },
    });
    const lines = [requires, worker('ENG-1'), first, onTop];
    expect(proofs(lines)).toEqual(['merge..squashed']);
    expect(answers('ENG-1', ...lines, squashed, success('squashed')).shipped).toBe(true);
    const last = [requires, onTop, success('squashed'), first, worker('ENG-1'), squashed];
    expect(answers('ENG-1', ...last).shipped).toBe(true);
  });

  test('merged without squashing, the change counts by itself: what reverted it before is found', () => {
    const lines = [requires, worker('ENG-1'), first, below, contained('merge', 'head-9')];
    const reverted: Line = [
      'orchestrator.deploy.descendant_checked',
      {
        source: 'monitor',
        scope: { repo: 'acme/web', mergeSha: 'merge', sha: 'squashed' },
        detail: { contains: false, reverted: true, by: 'git' },
      },
    ];
    expect(answers('ENG-1', ...lines, reverted, success('squashed')).shipped).toBe(false);
    const whole = contained('merge', 'squashed');
    expect(answers('ENG-1', ...lines, whole, success('squashed')).shipped).toBe(true);
    // Then a later commit has to contain the first merge itself.
    expect(proofs([...lines, whole, success('later')])).not.toContain('squashed..later');
  });

  test('its branch gets another pull request: the one that its merge was judged by stays', () => {
    const another = merged({ number: 11, scope: { mergeSha: 'other' }, detail: { base: 'main' } });
    const lines = [requires, worker('ENG-1'), first, another, below, contained('merge', 'head-9'), squashed];
    expect(answers('ENG-1', ...lines, success('squashed')).shipped).toBe(true);
  });

  test('the worker may become known last', () => {
    const lines = [requires, below, first, success('squashed'), worker('ENG-1')];
    expect(answers('ENG-1', ...lines).shipped).toBe(false);
    expect(answers('ENG-1', ...lines, contained('merge', 'head-9'), squashed).shipped).toBe(true);
  });

  test('three levels', () => {
    const middle = merged({
      number: 9,
      scope: { branch: 'eng-9-below', sha: 'head-9', mergeSha: 'squashed' },
      detail: { base: 'eng-8-bottom' },
    });
    const bottom = merged({
      number: 8,
      scope: { branch: 'eng-8-bottom', sha: 'head-8', mergeSha: 'main-8' },
      detail: { base: 'main' },
    });
    const lines = [requires, worker('ENG-1'), first, middle, bottom, contained('merge', 'head-9'), squashed];
    expect(proofs(lines)).toEqual(['merge..head-9', 'merge..squashed', 'squashed..head-8']);
    expect(answers('ENG-1', ...lines, success('main-8')).shipped).toBe(false);
    const carried = [contained('squashed', 'head-8'), contained('squashed', 'main-8', false)];
    expect(answers('ENG-1', ...lines, ...carried, success('main-8')).shipped).toBe(true);
    // The middle one was not squashed: the bottom one carries the first merge itself.
    const merges = [requires, worker('ENG-1'), first, middle, bottom, contained('merge', 'head-9')];
    const through = [contained('merge', 'squashed'), contained('merge', 'head-8')];
    const absent = contained('merge', 'main-8', false);
    expect(answers('ENG-1', ...merges, ...through, absent, success('main-8')).shipped).toBe(true);
  });

  test('a second run of the ticket that comes after the proof takes it, and ends too', () => {
    const lines = [requires, worker('ENG-1'), first, below, contained('merge', 'head-9'), squashed];
    const second = worker('ENG-1', { startedAt: moment(0) }, 'run-2');
    expect(proofs([...lines, second])).toEqual(['merge..head-9', 'merge..squashed']);
    const { board } = play(...lines, second, success('squashed'));
    expect([...board.workers.values()].map(({ status: reached }) => reached)).toEqual(['done', 'done']);
  });

  test('what contains the one on top is no proof for the one that carries it', () => {
    const carrier = worker('ENG-9', { branch: 'eng-9-below', pr: { number: 9 } });
    const lines = [requires, worker('ENG-1'), carrier, first, below, contained('merge', 'head-9'), squashed];
    const onTop = [...lines, contained('merge', 'later'), success('later')];
    expect(proofs(onTop)).toContain('squashed..later');
    const { board } = play(...onTop);
    expect(receipt(board, 'ENG-9')?.shipped).toBe(false);
    expect(board.workers.get('run-1/ENG-9')?.status).toBe('merged');
  });

  test('an exact policy takes the merge commit alone', () => {
    const exact = config({ 'acme/web': { ...strict, acceptDescendants: false } });
    const lines = [exact, worker('ENG-1'), first, below, contained('merge', 'head-9'), success('squashed')];
    expect(answers('ENG-1', ...lines).shipped).toBe(false);
    expect(proofs(lines)).toEqual([]);
  });
});
