import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import { Failure } from '../../kernel/failure.ts';
import type { EventFields } from '../../kernel/log/event-line.ts';
import { foldLine } from '../board.ts';
import { startRunServer } from './testing/run-server.ts';
import { ownLine, RUN, type RunWorld, runWorld } from './testing/run-world.ts';

async function serve(waves?: string[][]) {
  const world = runWorld();
  if (waves !== undefined) world.begin(waves);
  return { world, ...(await startRunServer(world)) };
}

const statusIn = async ({ signals }: RunWorld, ticket: string) => {
  const read = await signals.read(RUN, ticket);
  return read.state === 'ok' ? read.signal.status : read.state;
};

describe('start', () => {
  test('a run from tickets, waves or a plan; the response is its view', async () => {
    const { world, post, project } = await serve();
    const started = await post('/api/runs', { project, waves: [['ABC-1'], ['ABC-2']], name: RUN, by: 'kim' });
    expect(started).toMatchObject({
      status: 200,
      body: {
        orchestrator: RUN,
        state: 'running',
        project,
        maxParallel: 3,
        tickets: 2,
        waves: [{ wave: 1, state: 'waiting', tickets: [{ ticket: 'ABC-1', status: null }] }, { wave: 2 }],
        holds: [],
      },
    });
    expect(world.appended).toMatchObject([{ event: 'orchestrator.run.started', detail: { by: 'kim' } }]);
    const plan = {
      tickets: [
        { ticket: 'ABC-9', blockedBy: ['ABC-8'] },
        { ticket: 'ABC-8', blockedBy: [] },
      ],
    };
    expect((await post('/api/runs', { project, plan, name: 'two', maxParallel: 1 })).body).toMatchObject({
      waves: [{ tickets: [{ ticket: 'ABC-8' }] }, { tickets: [{ ticket: 'ABC-9' }] }],
      maxParallel: 1,
    });
    expect((await post('/api/runs', { project, tickets: ['ABC-7'], name: 'three' })).status).toBe(200);
  });

  test('without a project: in the one whose tickets have this prefix, and in no other', async () => {
    const { post, project } = await serve();
    expect(await post('/api/runs', { tickets: ['ABC-7'] })).toMatchObject({ status: 200, body: { project } });
    for (const tickets of [['OPS-1'], ['ABC-8', 'OPS-1']])
      expect(await post('/api/runs', { tickets })).toMatchObject({
        status: 404,
        body: { code: 'unknown-project', error: expect.stringContaining(tickets.join(', ')) },
      });
    const refused = await post('/api/runs', { waves: [['ABC-8']] });
    expect(refused).toMatchObject({ status: 400, body: { error: 'project is required without tickets.' } });
  });

  test.each([
    [{}, 'Exactly one of tickets, waves and plan is required.'],
    [{ tickets: ['A-1'], waves: [['A-1']] }, 'Exactly one of tickets, waves and plan is required.'],
    [{ tickets: ['A-1'], maxParallel: 0 }, 'maxParallel'],
    [{ tickets: ['A-1'], maxParallel: 101 }, 'maxParallel'],
    [{ tickets: ['A-1'], maxParallel: null }, 'maxParallel'],
    [{ tickets: ['A-1'], maxParalel: 3 }, 'Unknown field "maxParalel"'],
    [{ tickets: ['A-1'], name: '../x' }, 'A run name has'],
    [{ tickets: ['A-1'], base: '-x' }, 'starts with a dash'],
    [{ tickets: [] }, 'tickets: is empty'],
    [{ tickets: ['A 1'] }, 'tickets[0]'],
    [{ tickets: 'A-1' }, 'is not a list'],
    [{ waves: [[]] }, 'waves[0]'],
    [{ plan: 7 }, 'plan'],
    [{ tickets: ['A-1'], project: 7 }, 'project'],
  ])('refused: %j', async (body, words) => {
    const { world, post, project } = await serve();
    const refused = await post('/api/runs', { project, ...body });
    expect(refused).toMatchObject({ status: 400, body: { error: expect.stringContaining(words) } });
    expect(world.appended).toEqual([]);
  });

  test('only in a project that is served, by its name or its real path', async () => {
    const world = runWorld();
    const folder = realpathSync(temporaryFolder());
    const [listed, other, gone] = [join(folder, 'listed'), join(folder, 'other'), join(folder, 'gone')];
    mkdirSync(join(folder, 'real', 'below'), { recursive: true });
    mkdirSync(other);
    symlinkSync(join(folder, 'real'), listed);
    const { post } = await startRunServer(world, { served: [gone, listed] });
    for (const project of [other, join(listed, 'below'), `${listed}/../other`, '/no/such/folder', '.', gone])
      expect([project, await post('/api/runs', { project, tickets: ['A-1'] })]).toMatchObject([
        project,
        {
          status: 404,
          body: { code: 'unknown-project', remedy: expect.stringContaining('svc check-project-setup') },
        },
      ]);
    expect(await post('/api/runs', { project: other, tickets: ['A-1'], dependencies: true })).toMatchObject({
      body: { code: 'unknown-project' },
    });
    expect(world.appended).toEqual([]);
    for (const [index, project] of [listed, join(folder, 'real')].entries())
      expect(
        (await post('/api/runs', { project, tickets: [`A-${index}`], name: `r${index}` })).body,
      ).toMatchObject({ project: join(folder, 'real') });
  });

  test('a project with a broken configuration, and tickets of another run', async () => {
    const { world, post, project } = await serve();
    expect((await post('/api/runs', { project, tickets: ['ABC-1'], name: RUN })).status).toBe(200);
    expect(await post('/api/runs', { project, tickets: ['ABC-1'] })).toMatchObject({
      status: 409,
      body: { code: 'already-running' },
    });
    world.projects.of = () => Promise.reject(new Failure('config-invalid', 'svc.projectKey: expected text'));
    expect(await post('/api/runs', { project, tickets: ['ABC-2'] })).toMatchObject({
      status: 409,
      body: { code: 'config-invalid', error: 'svc.projectKey: expected text' },
    });
  });
});

test('unknown runs and tickets are 404, and nothing is answered before the log was read', async () => {
  const { world, get, post } = await serve([['ABC-1']]);
  const ticket = 'ABC-1';
  for (const [path, body] of Object.entries({ pause: {}, resume: {}, cancel: { ticket }, retry: { ticket } }))
    expect(await post(`/api/runs/nobody/${path}`, body)).toMatchObject({
      status: 404,
      body: { code: 'unknown-run' },
    });
  expect((await get('/api/runs/nobody')).status).toBe(404);
  expect((await get('/api/runs?x=1')).status).toBe(400);
  expect((await get(`/api/runs/${encodeURIComponent('../run-1')}`)).status).toBe(404);
  for (const word of ['cancel', 'retry'])
    for (const unknown of ['ABC-9', '../ABC-1', '$(id)'])
      expect(await post(`/api/runs/${RUN}/${word}`, { ticket: unknown })).toMatchObject({
        status: 404,
        body: { code: 'unknown-ticket' },
      });
  expect((await post(`/api/runs/${RUN}/retry`, {})).status).toBe(400);
  expect((await post(`/api/runs/${RUN}/pause`, { ticket })).status).toBe(400);
  expect(world.appended).toEqual([]);
  const early = await startRunServer(world, { ready: () => false });
  expect(await early.get('/api/runs')).toMatchObject({ body: { code: 'state-not-ready' } });
});

test('pause, resume and cancel; a finished run is neither paused nor resumed', async () => {
  const { world, get, post, holds } = await serve([['ABC-1']]);
  holds.push({
    kind: 'hold',
    orchestrator: RUN,
    ticket: null,
    why: 'review',
    message: '4 pull requests wait for a person',
    until: null,
  });
  for (const [word, state] of [
    ['pause', 'paused'],
    ['resume', 'running'],
    ['cancel', 'canceled'],
  ])
    expect((await post(`/api/runs/${RUN}/${word}`, { by: 'kim' })).body).toMatchObject({ state });
  expect(world.appended.map(({ event, detail }: EventFields) => [event, detail['by']])).toEqual([
    ['orchestrator.run.paused', 'kim'],
    ['orchestrator.run.resumed', 'kim'],
    ['orchestrator.run.canceled', 'kim'],
  ]);
  for (const word of ['pause', 'resume'])
    expect(await post(`/api/runs/${RUN}/${word}`, {})).toMatchObject({
      status: 409,
      body: {
        code: 'not-allowed-now',
        error: `The run ${RUN} is canceled.`,
        remedy: `Start one of its tickets again: svc orchestrate retry ${RUN} <ticket>`,
      },
    });
  // Repeating it changes nothing and appends no second event.
  expect((await post(`/api/runs/${RUN}/cancel`, {})).status).toBe(200);
  expect(world.appended).toHaveLength(3);
  const { runs } = (await get('/api/runs')).body as { runs: object[] };
  expect(runs).toMatchObject([
    { orchestrator: RUN, holds: [{ why: 'review', message: '4 pull requests wait for a person' }] },
  ]);
});

describe('a ticket', () => {
  test('that was not started is canceled too', async () => {
    const { world, post } = await serve([['ABC-1'], ['ABC-2']]);
    expect((await post(`/api/runs/${RUN}/cancel`, { ticket: 'ABC-2' })).status).toBe(200);
    expect(await world.signals.read(RUN, 'ABC-2')).toMatchObject({ signal: { status: 'canceled', wave: 2 } });
    // Repeated before the board knows of it.
    expect((await post(`/api/runs/${RUN}/cancel`, { ticket: 'ABC-2' })).status).toBe(200);
  });

  test.each(['implementing', 'pr-created', 'failed', 'stalled', 'canceled'] as const)(
    'that is %s is canceled, and started again',
    async (status) => {
      const { world, post } = await serve([['ABC-1']]);
      const signal = world.signal('ABC-1', { status, error: 'why' });
      await world.signals.create(signal);
      world.report(signal);
      expect((await post(`/api/runs/${RUN}/cancel`, { ticket: 'ABC-1' })).status).toBe(200);
      expect(await statusIn(world, 'ABC-1')).toBe('canceled');
      expect((await post(`/api/runs/${RUN}/retry`, { ticket: 'ABC-1', by: 'kim' })).status).toBe(200);
      expect(await statusIn(world, 'ABC-1')).toBe('dispatched');
      expect(world.appended).toMatchObject([
        { event: 'orchestrator.worker.retried', scope: { ticket: 'ABC-1' }, detail: { by: 'kim' } },
      ]);
      expect(world.board.workers.get(`${RUN}/ABC-1`)).toMatchObject({ retriedAt: world.now().toISOString() });
    },
  );

  test.each(['canceled', 'completed'] as const)(
    'is started again in a run that is %s, and no other with it',
    async (state) => {
      const { world, post } = await serve([['ABC-1'], ['ABC-2'], ['ABC-3']]);
      for (const ticket of ['ABC-1', 'ABC-2']) {
        const signal = world.signal(ticket, { status: 'canceled' });
        await world.signals.create(signal);
        world.report(signal);
      }
      world.fold(ownLine('orchestrator.wave.completed', undefined, { wave: 1, tickets: ['ABC-1'] }));
      world.fold(ownLine('orchestrator.wave.completed', undefined, { wave: 2, tickets: ['ABC-2'] }));
      world.fold(ownLine(`orchestrator.run.${state}`, undefined, {}));
      expect(await post(`/api/runs/${RUN}/retry`, { ticket: 'ABC-2', by: 'kim' })).toMatchObject({
        status: 200,
        body: {
          state: 'running',
          endedAt: null,
          waves: [
            { state: 'completed', tickets: [{ ticket: 'ABC-1', status: 'canceled' }] },
            { state: 'started', tickets: [{ ticket: 'ABC-2', status: 'dispatched' }] },
            { state: 'waiting', tickets: [{ ticket: 'ABC-3' }] },
          ],
        },
      });
      expect(await statusIn(world, 'ABC-3')).toBe('canceled');
    },
  );

  test('is started once by two requests at the same time', async () => {
    const { world, post, project } = await serve();
    // Both have been checked before either is written.
    const both = Promise.withResolvers<void>();
    let checks = 0;
    world.project.findMissing = async () => {
      checks += 1;
      if (checks === 2) both.resolve();
      await both.promise;
      return { missing: [], checks: [] };
    };
    const start = () => post('/api/runs', { project, tickets: ['ABC-1'] });
    const answers = await Promise.all([start(), start()]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]));
    const names = world.appended.map(({ event, scope }) => `${event} ${scope?.orchestrator}`);
    expect(names).toEqual(['orchestrator.run.started ABC-1']);
  });

  test('is not started again in a finished run while another run has it', async () => {
    const { world, post, project } = await serve();
    expect((await post('/api/runs', { project, tickets: ['ABC-1'], name: RUN })).status).toBe(200);
    expect((await post(`/api/runs/${RUN}/cancel`, {})).status).toBe(200);
    expect((await post('/api/runs', { project, tickets: ['ABC-1'], name: 'two' })).status).toBe(200);
    const before = world.appended.length;
    expect(await post(`/api/runs/${RUN}/retry`, { ticket: 'ABC-1' })).toMatchObject({
      status: 409,
      body: { code: 'already-running', error: 'Already in the run two: ABC-1.' },
    });
    expect(world.appended).toHaveLength(before);
  });

  test('whose agent program cannot be started is not started again', async () => {
    const { world, post } = await serve([['ABC-1']]);
    const signal = world.signal('ABC-1', { status: 'failed' });
    await world.signals.create(signal);
    world.report(signal);
    world.project.findMissing = async () => ({
      missing: [{ problem: 'no claude', remedy: 'Install it' }],
      checks: [],
    });
    expect(await post(`/api/runs/${RUN}/retry`, { ticket: 'ABC-1' })).toMatchObject({
      status: 409,
      body: { code: 'not-ready', error: 'no claude', remedy: 'Install it' },
    });
    expect([await statusIn(world, 'ABC-1'), world.appended]).toEqual(['failed', []]);
  });

  test('is started again only within the budget; what else will be needed is in the answer', async () => {
    const world = runWorld({ orchestration: { budget: { ticketUsd: 2 } } });
    world.begin([['ABC-1']]);
    const note = { problem: 'gh is not logged in.', remedy: 'Run: gh auth login' };
    const { post } = await startRunServer(world, {
      askServices: async () => ({ missing: [], notes: [note] }),
    });
    const signal = world.signal('ABC-1', { status: 'failed', cost: { usd: 2 } });
    await world.signals.create(signal);
    world.report(signal);
    expect(await post(`/api/runs/${RUN}/retry`, { ticket: 'ABC-1' })).toMatchObject({
      status: 409,
      body: {
        code: 'not-ready',
        error: expect.stringContaining('The budget of ABC-1 is used up: $2.00 of $2.00'),
        remedy: 'Raise it: svc config set svc.orchestration.budget.ticketUsd <amount>',
      },
    });
    expect([await statusIn(world, 'ABC-1'), world.appended]).toEqual(['failed', []]);
    world.project.config.svc.orchestration.budget.ticketUsd = 3;
    expect(await post(`/api/runs/${RUN}/retry`, { ticket: 'ABC-1' })).toMatchObject({
      status: 200,
      body: { notes: [note] },
    });
  });

  test('whose file is gone is canceled and started again: the file is created again', async () => {
    const { world, post } = await serve([['ABC-1']]);
    world.report(world.signal('ABC-1'));
    for (const [word, status] of [
      ['cancel', 'canceled'],
      ['retry', 'dispatched'],
    ]) {
      expect((await post(`/api/runs/${RUN}/${word}`, { ticket: 'ABC-1' })).status).toBe(200);
      expect(await statusIn(world, 'ABC-1')).toBe(status);
    }
  });

  test('of a run that svc does not manage is canceled with it, and not started again', async () => {
    const { world, post } = await serve();
    const signal = world.signal('ABC-1', { status: 'failed' });
    await world.signals.create(signal);
    world.report(signal);
    expect((await post(`/api/runs/${RUN}/cancel`, {})).body).toMatchObject({ state: 'canceled' });
    expect(await statusIn(world, 'ABC-1')).toBe('canceled');
    expect(await post(`/api/runs/${RUN}/retry`, { ticket: 'ABC-1' })).toMatchObject({
      status: 409,
      body: { error: `The run ${RUN} is canceled.` },
    });
  });

  test('that has been merged, or whose file cannot be read, is not changed', async () => {
    const { world, post } = await serve([['ABC-1', 'ABC-2', 'ABC-3']]);
    await world.signals.create(world.signal('ABC-1', { status: 'merged' }));
    world.report(world.signal('ABC-1'));
    await world.signals.create(world.signal('ABC-2'));
    writeFileSync(join(world.runsDir, RUN, 'workers', 'ABC-2.json'), '{ "status": ');
    world.report(world.signal('ABC-2'));
    // Its deploy has timed out: the file has the status stalled, and the deploy decides.
    await world.signals.create(world.signal('ABC-3', { status: 'stalled' }));
    world.report(world.signal('ABC-3', { repo: 'acme/web', branch: 'ABC-3', pr: { number: 7 } }));
    const scope = { repo: 'acme/web', pr: 7, mergeSha: 'a'.repeat(40), branch: 'ABC-3' };
    foldLine(world.board, {
      event: 'codehost.pr.merged',
      source: 'codehost.webhook',
      via: 'live',
      scope,
      detail: { mergedAt: world.now().toISOString() },
      seq: world.board.seq + 1,
      ts: world.now().toISOString(),
    });
    expect(world.board.workers.get(`${RUN}/ABC-3`)?.merge).not.toBeNull();
    for (const word of ['cancel', 'retry'])
      for (const [ticket, why] of [
        ['ABC-1', 'it has been merged'],
        ['ABC-2', 'its status file is corrupt'],
        ['ABC-3', 'it has been merged'],
      ])
        expect(await post(`/api/runs/${RUN}/${word}`, { ticket })).toMatchObject({
          status: 409,
          body: { code: 'not-allowed-now', error: `${ticket}: ${why}.` },
        });
    expect(world.appended).toEqual([]);
    expect(await statusIn(world, 'ABC-3')).toBe('stalled');
  });
});

test('attention that an agent could not be started is resolved when it is started again, or canceled', async () => {
  for (const status of ['dispatched', 'canceled'] as const) {
    const { world } = await serve([['ABC-1']]);
    world.report(world.signal('ABC-1', { status: 'failed' }));
    const detail = { reason: 'dispatch-failed', message: 'no disk', severity: 'high' } as const;
    world.fold({ ...ownLine('comms.attention', 'ABC-1', detail) });
    const signal = world.signal('ABC-1', { status });
    const effects = foldLine(world.board, {
      ...ownLine('orchestrator.worker.status_changed', 'ABC-1', { from: 'failed', to: status, signal }),
      seq: world.board.seq + 1,
      ts: world.now().toISOString(),
    });
    expect(effects).toMatchObject([
      {
        kind: 'append',
        draft: { event: 'comms.attention_resolved', detail: { reason: 'dispatch-failed' } },
      },
    ]);
  }
});
