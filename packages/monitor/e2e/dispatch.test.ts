// Runs that the tracker asks for, through the daemon's door: a signed delivery comes in, and a run is started, or not.
import { createHmac, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  codehostForTest,
  ghEnvironment,
  temporaryFolder,
  testTerminal,
  testToken,
  until,
  untilHolds,
} from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import { runCommandLine } from '../src/cli/run.ts';
import type { AttentionItem } from '../src/features/attention/entity.ts';
import { testRepository } from '../src/features/worktrees/testing/repository.ts';
import type { EventLine } from '../src/kernel/log/event-line.ts';
import { startInProcess } from './in-process-daemon.ts';

const SECRET = 't'.repeat(64);
const LABEL = 'svc:run';
const kim = { id: 'user-kim', name: 'Kim', type: 'user' };
const mallory = { id: 'user-mallory', name: 'Kim', type: 'user' };
const entry = { repo: 'acme/web', label: LABEL, assignee: 'user-bot', authors: [kim.id] };
const todo = { id: 'state-todo', name: 'Todo', type: 'unstarted' };
const bug = { id: 'label-bug', name: 'bug' };
const run = { id: 'label-run', name: LABEL };

/** The label is set on ENG-1 by somebody, on a ticket that Kim wrote. */
const labeled = (data: object = {}, more: object = {}) => ({
  type: 'Issue',
  action: 'update',
  actor: kim,
  createdAt: new Date().toISOString(),
  data: {
    id: 'issue-1',
    identifier: 'ENG-1',
    title: 'Add the login form',
    state: todo,
    labels: [bug, run],
    creatorId: kim.id,
    team: { id: 'team-eng', key: 'ENG' },
    ...data,
  },
  updatedFrom: { labelIds: [bug.id] },
  webhookTimestamp: Date.now(),
  ...more,
});
const assigned = (more: object = {}) =>
  labeled(
    { labels: [bug], assignee: { id: 'user-bot', name: 'Bot' }, assigneeId: 'user-bot' },
    { updatedFrom: { assigneeId: null }, ...more },
  );

type Settling = {
  state: { seq: number; logSeq: number; backlog: number };
  outbox: { pending: number; running: number };
};
/** Tickets are issues of the code host. */
const github = {
  dispatch: [{ repo: 'acme/web', label: LABEL, assignee: 'helper', authors: ['kim'] }],
  project: { tracker: { provider: 'github' }, project: {} },
};
/** The same of the code host: `kim` sets the label on GH-1, which `kim` wrote. */
const issueLabeled = (issue: object = {}, more: object = {}) => ({
  action: 'labeled',
  label: { name: LABEL },
  issue: {
    number: 1,
    node_id: 'I_1',
    title: 'Add the login form',
    state: 'open',
    state_reason: null,
    user: { login: 'kim' },
    labels: [{ name: LABEL }],
    assignee: null,
    updated_at: new Date().toISOString(),
    ...issue,
  },
  repository: { full_name: 'acme/web' },
  sender: { login: 'kim', type: 'User' },
  ...more,
});
/** The states are those of a board beside the issues. */
const board = {
  ...github,
  project: { ...github.project, tracker: { provider: 'github', githubProject: 'acme/1' } },
};
const helper = { login: 'helper' };
const issueAssigned = (more: object = {}) =>
  issueLabeled(
    { labels: [], assignee: helper },
    { action: 'assigned', label: null, assignee: helper, ...more },
  );

type World = Awaited<ReturnType<typeof world>>;

async function world(given: { dispatch?: object[]; project?: object; orchestration?: object } = {}) {
  const repository = testRepository(temporaryFolder());
  const { home, folder } = repository;
  const codehost = await codehostForTest();
  codehost.cloud.addRepo('acme/web');
  for (const number of [1, 99]) codehost.cloud.addIssue('acme/web', { title: 'Add the login form', number });
  const { HOME: _home, PATH: _path, ...gh } = ghEnvironment(codehost, testToken);
  const environment = { ...repository.environment, ...gh };
  const agent = join(home, 'agent.sh');
  // It may be started again: the file is whole from the start, and the same each time.
  writeFileSync(agent, 'printf "<%s>" "$@" > "$HOME/saw.$$" && mv "$HOME/saw.$$" "$HOME/agent-saw"\n');
  const project = {
    projectKey: 'demo',
    repository: { org: 'acme', name: 'web' },
    project: { ticketPrefix: 'ENG' },
    orchestration: { agent: ['/bin/sh', agent, '${PROMPT}'], ...given.orchestration },
    ...given.project,
  };
  const global = { projects: [folder], orchestration: { dispatch: given.dispatch ?? [entry] } };
  repository.write(folder, '.svc/config.json', JSON.stringify({ svc: project }));
  repository.write(home, '.config/svc/config.json', JSON.stringify({ svc: global }));
  const start = () =>
    startInProcess({
      home,
      environment: { ...environment, SVC_TRACKER_WEBHOOK_SECRET: SECRET, SVC_WEBHOOK_SECRET: SECRET },
    });
  let daemon = await start();
  const terminal = { ...testTerminal(), home, folder, environment };
  const deliver = async (payload: object, secret = SECRET, id: string = randomUUID()) => {
    const body = JSON.stringify(payload);
    const signature = createHmac('sha256', secret).update(body).digest('hex');
    const isIssue = 'issue' in payload;
    const { status } = await daemon.post(isIssue ? '/api/webhook' : '/api/webhook/tracker', body, {
      'Content-Type': 'application/json',
      ...(isIssue
        ? {
            'X-Codehost-Event': 'issues',
            'X-Codehost-Delivery': id,
            'X-Hub-Signature-256': `sha256=${signature}`,
          }
        : { 'Tracker-Delivery': id, 'Tracker-Signature': signature }),
    });
    return status;
  };
  const eventsOf = (topic: string): EventLine[] => daemon.allLines().filter(({ event }) => event === topic);
  return {
    home,
    folder,
    terminal,
    branches: repository.branches,
    deliver,
    eventsOf,
    daemon: () => daemon,
    stop: () => daemon.close(),
    start: async () => void (daemon = await start()),
    svc: (...words: string[]) => runCommandLine(terminal, words),
    /** Every line is folded, and its effects are done. */
    settled: () =>
      until(async () => {
        const { state, outbox } = (await daemon.get('/api/health')).body as Settling;
        return state.seq === state.logSeq && state.backlog + outbox.pending + outbox.running === 0;
      }),
    everything: () =>
      readdirSync(repository.home, { recursive: true, withFileTypes: true }).map(({ name }) => name),
    refused: () => until(() => eventsOf('workflow.ticket.dispatch_refused')[0]),
    /** A run for another ticket that is allowed: the deliveries before it have been handled. */
    control: async () => {
      const isGithub = given.project === github.project || given.project === board.project;
      const other = isGithub
        ? issueLabeled({ number: 99 })
        : labeled({ id: 'issue-99', identifier: 'ENG-99' });
      expect(await deliver(other)).toBe(200);
      await until(() =>
        eventsOf('workflow.ticket.dispatched').find(({ scope }) => scope.ticket?.endsWith('-99')),
      );
    },
  };
}

const ticketsOf = (lines: readonly EventLine[]) => lines.flatMap(({ detail }) => detail['plan']);

type Row = {
  payload: () => object;
  given?: Parameters<typeof world>[0];
  before?: (here: World) => Promise<unknown>;
  secret?: string;
  /** The reason of the refusal; null: nothing asks for a run at all. */
  reason: string | null;
  /** With a daemon of its own, where no other run could be started either. */
  alone?: true;
};

const rows: Record<string, Row> = {
  'the label by a stranger with the name of an allowed person': {
    payload: () => labeled({}, { actor: mallory }),
    reason: '"Kim" ("user-mallory") is not in authors of svc.orchestration.dispatch for acme/web',
  },
  'the label by an allowed person on the ticket of a stranger': {
    payload: () => labeled({ creatorId: mallory.id }),
    reason:
      '"user-mallory" is not in authors of svc.orchestration.dispatch for acme/web, and wrote the ticket',
  },
  'the label by a bot that is not in the list': {
    payload: () => labeled({}, { actor: { id: 'bot-1', service: 'triage', type: 'integration' } }),
    reason: '"triage" ("bot-1") is not in authors of svc.orchestration.dispatch for acme/web',
  },
  'the label by nobody known': {
    payload: () => labeled({}, { actor: null }),
    reason: 'it is not known who is behind the label svc:run',
  },
  'a ticket of nobody known': {
    payload: () => labeled({ creatorId: null }),
    reason: 'it is not known who wrote the ticket',
  },
  'the assignment by a stranger': {
    payload: () => assigned({ actor: mallory }),
    reason: '"Kim" ("user-mallory") is not in authors of svc.orchestration.dispatch for acme/web',
  },
  'an assignment to somebody else': {
    payload: () => labeled({ labels: [bug], assignee: kim }, { updatedFrom: { assigneeId: null } }),
    reason: null,
  },
  'a closed ticket': {
    payload: () => labeled({ state: { id: 's', name: 'Done', type: 'completed' } }),
    reason: 'the ticket is closed',
  },
  'a canceled ticket': {
    payload: () => labeled({ state: { id: 's', name: 'Canceled', type: 'canceled' } }),
    reason: 'the ticket is closed',
  },
  'a ticket whose state is not known': {
    payload: () => labeled({ state: null }),
    reason: 'it is not known whether the ticket is open',
  },
  'a ticket that was removed': {
    before: ({ deliver }) => deliver(labeled({ labels: [bug] }, { action: 'remove', updatedFrom: null })),
    payload: () => labeled(),
    reason: 'the ticket had been removed from the tracker',
  },
  'a delivery that is two days old': {
    payload: () => labeled({}, { createdAt: new Date(Date.now() - 2 * 86_400_000).toISOString() }),
    reason: 'the delivery came 48 hours late',
  },
  'a delivery without a time': {
    payload: () => labeled({}, { createdAt: null }),
    reason: 'it is not known when that happened',
  },
  'the label in other letters': {
    payload: () => labeled({ labels: [bug, { ...run, name: 'SVC:run' }] }),
    reason: null,
  },
  'the label with a space': {
    payload: () => labeled({ labels: [bug, { ...run, name: 'svc:run ' }] }),
    reason: null,
  },
  'the label is removed': {
    payload: () => labeled({ labels: [bug] }, { updatedFrom: { labelIds: [bug.id, run.id] } }),
    reason: null,
  },
  'the label was there before': {
    before: ({ deliver }) => deliver(labeled({}, { actor: mallory })),
    payload: () => labeled({ title: 'New title' }, { updatedFrom: { title: 'Add the login form' } }),
    reason: '"Kim" ("user-mallory") is not in authors of svc.orchestration.dispatch for acme/web',
  },
  'the label was set unseen, and a later change of an allowed person shows it': {
    before: ({ deliver }) => deliver(labeled({ labels: [bug] }, { updatedFrom: { title: 'x' } })),
    payload: () => labeled({ title: 'New title' }, { updatedFrom: { title: 'Add the login form' } }),
    reason: 'it is not known who is behind the label svc:run',
  },
  'a wrong signature': { payload: () => labeled(), secret: 'x'.repeat(64), reason: null },
  'a ticket that no served project has': { payload: () => labeled({ identifier: 'OPS-1' }), reason: null },
  'a hostile ticket id': { payload: () => labeled({ identifier: 'ENG-$(touch canary)' }), reason: null },
  'a hostile title of a stranger': {
    payload: () =>
      labeled({ title: `"; $(touch canary)\n\`x\`\u202e${'x'.repeat(10_000)}`, creatorId: mallory.id }),
    reason:
      '"user-mallory" is not in authors of svc.orchestration.dispatch for acme/web, and wrote the ticket',
  },
  'an entry for another repository': {
    given: { dispatch: [{ ...entry, repo: 'acme/api' }] },
    payload: () => labeled(),
    reason: null,
    alone: true,
  },
  'an entry in other letters': {
    given: { dispatch: [{ ...entry, repo: 'Acme/Web' }] },
    payload: () => labeled(),
    reason: null,
    alone: true,
  },
  'no entry at all': { given: { dispatch: [] }, payload: () => labeled(), reason: null, alone: true },
  'an entry in the committed file': {
    given: { dispatch: [], orchestration: { dispatch: [entry] } },
    payload: () => labeled(),
    reason: null,
    alone: true,
  },
  'an issue labeled by a stranger': {
    given: github,
    payload: () => issueLabeled({}, { sender: { login: 'mallory', type: 'User' } }),
    reason: '"mallory" is not in authors of svc.orchestration.dispatch for acme/web',
  },
  'an issue labeled by a bot': {
    given: github,
    payload: () => issueLabeled({}, { sender: { login: 'triage[bot]', type: 'Bot' } }),
    reason: '"triage[bot]" is not in authors of svc.orchestration.dispatch for acme/web',
  },
  'an issue of a stranger, labeled by an allowed person': {
    given: github,
    payload: () => issueLabeled({ user: { login: 'mallory' } }),
    reason: '"mallory" is not in authors of svc.orchestration.dispatch for acme/web, and wrote the ticket',
  },
  'an issue of a deleted account': {
    given: github,
    payload: () => issueLabeled({ user: null }),
    reason: 'it is not known who wrote the ticket',
  },
  'an issue of a fork': {
    given: github,
    payload: () => issueLabeled({}, { repository: { full_name: 'kim/web', fork: true } }),
    reason: null,
  },
  'a closed issue': {
    given: github,
    payload: () => issueLabeled({ state: 'closed', state_reason: 'completed' }),
    reason: 'the ticket is closed',
  },
  'a closed issue, while a board holds the states': {
    given: board,
    payload: () => issueLabeled({ state: 'closed', state_reason: 'not_planned' }),
    reason: 'the ticket is closed',
  },
  'an issue that is opened with the label, by a stranger': {
    given: github,
    payload: () =>
      issueLabeled({ user: { login: 'mallory' } }, { action: 'opened', sender: { login: 'mallory' } }),
    reason: null,
  },
  'an issue that loses the label': {
    given: github,
    payload: () => issueLabeled({ labels: [] }, { action: 'unlabeled' }),
    reason: null,
  },
  'another label of an issue that has this one': {
    given: github,
    payload: () => issueLabeled({}, { label: { name: 'bug' } }),
    reason: null,
  },
  'an old delivery of an issue': {
    given: github,
    payload: () => issueLabeled({ updated_at: new Date(Date.now() - 3 * 86_400_000).toISOString() }),
    reason: 'the delivery came 72 hours late',
  },
  'an issue assigned by a stranger': {
    given: github,
    payload: () => issueAssigned({ sender: { login: 'mallory' } }),
    reason: '"mallory" is not in authors of svc.orchestration.dispatch for acme/web',
  },
  'an issue of a repository whose tickets are elsewhere': { payload: () => issueLabeled(), reason: null },
  'a project with an invalid file': {
    given: { orchestration: { maxParallel: 'many' } },
    payload: () => labeled(),
    reason: expect.stringContaining('maxParallel') as string,
    alone: true,
  },
  'a project with a paused run': {
    before: async ({ svc }) => {
      await svc('orchestrate', 'start', 'ENG-7', '--name', 'mine');
      await svc('orchestrate', 'pause', 'mine');
    },
    payload: () => labeled(),
    reason: 'the run mine of this project is paused',
    alone: true,
  },
  'a ticket of a run': {
    before: ({ svc }) => svc('orchestrate', 'start', 'eng-1', '--name', 'mine'),
    payload: () => labeled(),
    reason: 'the ticket is in the run mine, which has not ended',
    alone: true,
  },
};

/** The same, of another ticket. */
const ofTicket = (payload: object, number: number): object =>
  JSON.parse(
    JSON.stringify(payload)
      .replaceAll('"ENG-1"', `"ENG-${number}"`)
      .replaceAll('"issue-1"', `"issue-${number}"`)
      .replaceAll('"number":1,', `"number":${number},`),
  ) as object;

/** A worker that was just started is noticed to have ended a moment later. */
function showsWhy(here: World, ticket: string): Promise<void> {
  return untilHolds(async () => {
    expect(await here.svc('why', ticket), here.terminal.complained()).toBe(0);
    expect(here.terminal.printed()).toEqual(
      expect.stringMatching(/No run was started by the (label|assign)/),
    );
    expect(here.terminal.printed()).toMatch(/waiting for +a person: /);
  });
}

describe('starts nothing', () => {
  const alone = Object.entries(rows).filter(([, row]) => row.alone);
  test.each(alone)('%s', async (_, { payload, given, before, reason }) => {
    const here = await world(given);
    await before?.(here);
    const own = here.eventsOf('orchestrator.run.started').length;
    expect(await here.deliver(payload())).toBe(200);
    if (reason !== null) expect((await here.refused()).detail).toMatchObject({ reason });
    await here.settled();
    expect(here.eventsOf('orchestrator.run.started').slice(own)).toEqual([]);
    expect(here.eventsOf('workflow.ticket.dispatch_refused')).toHaveLength(reason === null ? 0 : 1);
    if (reason !== null) await showsWhy(here, (await here.refused()).scope.ticket ?? '');
  });

  // The others, each with a ticket of its own.
  test.each([
    ['for tickets of a tracker', undefined],
    ['for issues', github],
    ['for issues on a board', board],
  ])('%s', async (_, given) => {
    const here = await world(given);
    const asked = Object.entries(rows).filter(([, row]) => row.given === given && !row.alone);
    for (const [index, [name, { before, payload, secret }]] of asked.entries()) {
      const deliver: World['deliver'] = (made, ...more) => here.deliver(ofTicket(made, index + 1), ...more);
      await before?.({ ...here, deliver });
      expect(await deliver(payload(), secret), name).toBe(secret === undefined ? 200 : 401);
    }
    await here.control();
    await here.settled();
    expect(startedFor(here)).toEqual([[expect.stringMatching(/^(ENG|GH)-99$/)]]);
    const refusals = here.eventsOf('workflow.ticket.dispatch_refused');
    const prefix = given === undefined ? 'ENG' : 'GH';
    const reasons = asked.map(([name], index) => [
      name,
      refusals
        .filter(({ scope }) => scope.ticket === `${prefix}-${index + 1}`)
        .map(({ detail }) => detail['reason']),
    ]);
    expect(Object.fromEntries(reasons)).toEqual(
      Object.fromEntries(asked.map(([name, { reason }]) => [name, reason === null ? [] : [reason]])),
    );
    expect(refusals).toHaveLength(asked.filter(([, { reason }]) => reason !== null).length);
    for (const { scope } of refusals) await showsWhy(here, scope.ticket ?? '');
  });
});

const startedFor = ({ eventsOf }: World) => ticketsOf(eventsOf('orchestrator.run.started'));
const dispatched = ({ eventsOf }: World) => until(() => eventsOf('workflow.ticket.dispatched')[0]);
const attention = async ({ daemon }: World) =>
  ((await daemon().get('/api/attention')).body['open'] as AttentionItem[]).filter(
    ({ reason }) => reason === 'dispatch-refused',
  );

const needsYou = async ({ daemon }: World) => (await daemon().get('/api/board')).body['needsYou'];

describe('starts a run', () => {
  test.each([
    ['the label', () => labeled(), 'the label svc:run'],
    [
      'a new ticket with the label',
      () => labeled({}, { action: 'create', updatedFrom: null }),
      'the label svc:run',
    ],
    ['the assignment', () => assigned(), 'the assignment to user-bot'],
    ['the label of an issue', () => issueLabeled(), 'the label svc:run', github],
    ['the label of an issue on a board', () => issueLabeled(), 'the label svc:run', board],
    ['the assignment of an issue', () => issueAssigned(), 'the assignment to helper', github],
  ])('%s', async (_, payload, because, given?: typeof github) => {
    const here = await world(given);
    expect(await here.deliver(payload())).toBe(200);
    const { detail, scope } = await dispatched(here);
    const ticket = given === undefined ? 'ENG-1' : 'GH-1';
    expect(scope).toEqual({ ticket, repo: 'acme/web' });
    expect(detail).toMatchObject({ because, by: given === undefined ? '"Kim" ("user-kim")' : '"kim"' });
    await until(() => existsSync(join(here.home, 'agent-saw')));
    // For an issue, the name of the file with its text follows.
    expect(readFileSync(join(here.home, 'agent-saw'), 'utf8')).toMatch(
      new RegExp(`^</svc-dev:oneshot ${ticket}[> ]`),
    );
    expect(startedFor(here)).toEqual([[ticket]]);
    expect(await here.svc('why', ticket)).toBe(0);
    expect(here.terminal.printed()).toContain(`The run ${String(detail['run'])} was started by ${because}`);
    expect(await here.svc('orchestrate', 'status', String(detail['run']))).toBe(0);
  });

  test('a hostile title of an allowed person is no part of any command', async () => {
    const here = await world();
    const title = `"; $(touch canary) '\`touch canary\`\n--help \u202e${'x'.repeat(10_000)}`;
    expect(await here.deliver(labeled({ title }))).toBe(200);
    await dispatched(here);
    await until(() => existsSync(join(here.home, 'agent-saw')));
    expect(readFileSync(join(here.home, 'agent-saw'), 'utf8')).toBe('</svc-dev:oneshot ENG-1>');
    expect(here.branches()).toEqual(['ENG-1', 'main']);
    expect(here.everything().filter((path) => path.includes('canary'))).toEqual([]);
  });

  test('once, however often the delivery comes, and again only when its run has ended', async () => {
    const here = await world();
    const payload = labeled();
    expect(await here.deliver(payload, SECRET, 'delivery-1')).toBe(200);
    const { detail } = await dispatched(here);
    expect(await here.deliver(payload, SECRET, 'delivery-1')).toBe(200);
    expect(await here.deliver(payload, SECRET, 'delivery-2')).toBe(200);
    expect(await here.deliver(labeled({ labels: [bug] }, { updatedFrom: { labelIds: [run.id] } }))).toBe(200);
    expect(await here.deliver(labeled())).toBe(200);
    const refused = await here.refused();
    expect(refused.detail['reason']).toBe(
      `the ticket is in the run ${String(detail['run'])}, which has not ended`,
    );
    expect(startedFor(here)).toEqual([['ENG-1']]);
    await until(async () => (await attention(here)).length === 1);
    expect(await attention(here)).toMatchObject([{ ticket: 'ENG-1', severity: 'medium' }]);
    await until(async () => (await needsYou(here)) === 1);

    expect(await here.svc('orchestrate', 'cancel', String(detail['run']))).toBe(0);
    expect(await here.deliver(labeled())).toBe(200);
    await until(() => here.eventsOf('workflow.ticket.dispatched').length === 2);
    await until(async () => (await attention(here)).length === 0);
    expect(startedFor(here)).toEqual([['ENG-1'], ['ENG-1']]);
  });

  test('once when the daemon stops right after it accepted the delivery', async () => {
    const here = await world();
    for (const number of [1, 2, 3, 4]) {
      expect(await here.deliver(labeled({ id: `i-${number}`, identifier: `ENG-${number}` }))).toBe(200);
      await here.stop();
      await here.start();
    }
    await until(() => here.eventsOf('workflow.ticket.dispatched').length >= 4);
    await here.settled();
    expect(startedFor(here).flat().map(String).toSorted()).toEqual(['ENG-1', 'ENG-2', 'ENG-3', 'ENG-4']);
    expect(here.eventsOf('workflow.ticket.dispatched')).toHaveLength(4);
    expect(here.eventsOf('workflow.ticket.dispatch_refused')).toEqual([]);
  });
});

test('strangers share one attention item, however many tickets they write', async () => {
  const here = await world();
  for (let number = 1; number <= 20; number += 1)
    await here.deliver(labeled({ identifier: `ENG-${number}` }, { actor: mallory }));
  await until(() => here.eventsOf('workflow.ticket.dispatch_refused').length === 20);
  await here.settled();
  expect(await attention(here)).toMatchObject([{ ticket: null, severity: 'low', times: 20 }]);
  expect(await needsYou(here)).toBe(1);
});

test('a refusal is counted although its ticket has no card', async () => {
  const here = await world();
  await here.deliver(labeled({ state: { id: 's', name: 'Done', type: 'completed' } }));
  await until(async () => (await attention(here)).length === 1);
  expect(await attention(here)).toMatchObject([{ ticket: 'ENG-1', acknowledged: null }]);
  expect(await needsYou(here)).toBe(1);
  expect(await here.svc('board')).toBe(0);
  expect(here.terminal.printed()).toContain('1 needs you, 0 working');
});

test('tickets that nobody started are listed, and a run is started for one by its name alone', async () => {
  const here = await world();
  await here.deliver(labeled({ title: 'Mine\u001b[31m' }, { actor: mallory }));
  await here.deliver(
    labeled({ identifier: 'ENG-2', title: 'Closed', state: { ...todo, type: 'completed' } }),
  );
  await until(() => here.eventsOf('workflow.ticket.dispatch_refused').length === 2);
  await here.settled();
  expect(await here.svc('ticket', 'list')).toBe(0);
  expect(here.terminal.printed()).toMatch(
    /^ENG-1 +Todo +nobody +Mine.* no run: "Kim" \("user-mallory"\) is not/,
  );
  expect(here.terminal.printed()).not.toContain('ENG-2');
  expect(here.terminal.printed()).not.toContain('\u001b');
  const json = { 'Content-Type': 'application/json' };
  const started = await here.daemon().post('/api/runs', JSON.stringify({ tickets: ['ENG-1'] }), json);
  expect(started).toMatchObject({ status: 200, body: { tickets: 1 } });
  await here.settled();
  expect(await here.svc('ticket', 'list', '--json')).toBe(0);
  expect(here.terminal.printed()).toContain('"tickets": []');
});

test('an entry for a repository that is not served is reported', async () => {
  const here = await world({ dispatch: [entry, { ...entry, repo: 'acme/api' }] });
  const { configuration } = (await here.daemon().get('/api/health')).body as {
    configuration: { problems: { text: string }[] };
  };
  expect(configuration.problems.map(({ text }) => text)).toEqual([
    expect.stringContaining('svc.orchestration.dispatch: has an entry for acme/api, but no served project'),
  ]);
});
