// GET /api/board, and the routes of attention and of workers.

import {
  mergedPullRequest,
  mergedWorker,
  sampleAttention,
  sampleBoard,
  sampleMergeSha,
  samplePullRequest,
  sampleTime,
  sampleWorker,
} from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import { parseEventDraft } from '../../kernel/log/event-line.ts';
import { type StateServerOptions, startStateServer } from '../testing/state-server.ts';
import { topics } from '../topics.ts';

async function serve(options: Omit<StateServerOptions, 'now'>) {
  const server = await startStateServer({ ...options, now: sampleTime('12:00') });
  const call = async (path: string, body?: unknown) => {
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const headers = body === undefined ? {} : { 'Content-Type': 'application/json' };
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { ...sent, headers });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  return { ...server, get: (path: string) => call(path), post: call };
}

describe('GET /api/board/changes', () => {
  test('everything first, then what a line changed', async () => {
    const { get, post } = await serve({ board: sampleBoard({ attention: [sampleAttention()] }) });
    const first = await get('/api/board/changes');
    expect(first.body).toMatchObject({ instanceId: 'instance-1', seq: 100, full: true, attention: [{}] });
    const { id } = sampleAttention();
    await post('/api/attention/ack', { id, by: 'kim' });
    expect((await get('/api/board/changes?after=100&instanceId=instance-1')).body).toMatchObject({
      seq: 101,
      full: false,
      workers: [],
      attention: [{ key: id, acknowledged: { by: 'kim' } }],
    });
    await post('/api/attention/resolve', { id });
    expect((await get('/api/board/changes?after=101&instanceId=instance-1')).body).toMatchObject({
      seq: 102,
      attention: [],
      gone: { attention: [id], workers: [] },
    });
    expect((await get('/api/board/changes?after=102&instanceId=instance-1&atLeast=102')).body).toMatchObject({
      full: false,
      gone: { attention: [] },
    });
  });

  test('positions of another process do not count', async () => {
    const { get } = await serve({ board: sampleBoard({ workers: [sampleWorker()] }) });
    await get('/api/board/changes');
    expect((await get('/api/board/changes?after=100&instanceId=instance-0')).body).toMatchObject({
      full: true,
    });
    expect((await get('/api/board/changes?after=100&instanceId=instance-1')).body).toMatchObject({
      full: false,
    });
  });
});

describe('GET /api/board', () => {
  test('now, or at a past time', async () => {
    const { get, moments } = await serve({
      board: sampleBoard({ workers: [sampleWorker()] }),
      past: sampleBoard({
        seq: 7,
        workers: [sampleWorker({ status: 'done', lastAt: '2025-01-01T00:00:00Z' })],
      }),
    });
    expect((await get('/api/board')).body).toMatchObject({ seq: 100, workers: [{ status: 'implementing' }] });
    expect(moments).toEqual([]);
    expect((await get('/api/board?at=7')).body).toMatchObject({ seq: 7, workers: [] });
    expect((await get('/api/board?at=2h&all=1')).body).toMatchObject({ workers: [{ status: 'done' }] });
    await get(`/api/board?at=${sampleTime('10:00')}`);
    const time = Date.parse(sampleTime('10:00'));
    expect(moments).toEqual([{ seq: 7 }, { time }, { time }]);
  });

  test('settled workers are shown for as long as requested', async () => {
    const { get } = await serve({
      board: sampleBoard({ workers: [sampleWorker({ status: 'done', lastAt: '2026-01-01T00:00:00Z' })] }),
    });
    expect((await get('/api/board')).body['workers']).toHaveLength(1);
    expect((await get('/api/board?settled=48h')).body['workers']).toHaveLength(1);
    expect((await get('/api/board?settled=24h')).body).toMatchObject({
      instanceId: 'instance-1',
      workers: [],
    });
  });

  test.each([
    ['/api/board?when=2h', 'Unknown field "when"; allowed: at, all, settled, team.'],
    ['/api/board?settled=long', 'settled: expected a duration, like 24h.'],
    ['/api/board?all=1&settled=1h', 'all and settled cannot be combined.'],
    ['/api/board/changes?after=-1', 'after: expected the seq of an event.'],
    ['/api/board/changes?after=1&after=2', 'after: expected the seq of an event.'],
    ['/api/board/changes?atLeast=now', 'atLeast: expected the seq of an event.'],
    ['/api/board/changes?settled=1', 'settled: expected a duration, like 24h.'],
    ['/api/board?at=yesterday', 'at: expected an event number (seq), an ISO time or an age such as 2h.'],
    ['/api/board?at=', 'at: expected a text of at most 40 characters.'],
    ['/api/board?at=1&at=2', 'at: expected a text of at most 40 characters.'],
    ['/api/board?all=yes', 'all: expected 1 or 0.'],
  ])('%s is refused', async (path, error) => {
    const { get } = await serve({ board: sampleBoard() });
    expect(await get(path)).toEqual({ status: 400, body: { error, code: 'usage' } });
  });

  test('while the log is being read no route answers', async () => {
    const { get, post, appended } = await serve({ board: sampleBoard(), ready: () => false });
    const expected = {
      status: 503,
      body: {
        error: 'The log is still being read (line 12 of 99).',
        code: 'state-not-ready',
        remedy: 'Try again in a moment.',
      },
    };
    for (const path of ['board', 'board/changes', 'attention', 'workers/ENG-1/why', 'workers/ENG-1/receipt'])
      expect(await get(`/api/${path}`)).toEqual(expected);
    expect(await post('/api/attention/ack', { id: 'x' })).toEqual(expected);
    expect(await post('/api/workers/ENG-1/deploy', { action: 'retry' })).toEqual(expected);
    expect(appended).toEqual([]);
  });
});

describe('attention', () => {
  const id = 'run-1/ENG-1/deploy-timeout';

  test('open and snoozed items', async () => {
    const { get } = await serve({
      board: sampleBoard({
        attention: [
          sampleAttention(),
          sampleAttention({ ticket: 'ENG-2', snoozedUntil: sampleTime('13:00') }),
        ],
      }),
    });
    expect((await get('/api/attention')).body).toMatchObject({
      open: [{ id, ageMs: 30 * 60_000, remedy: 'svc deploy retry ENG-1' }],
      snoozed: [{ id: 'run-1/ENG-2/deploy-timeout' }],
    });
  });

  test.each([
    [
      'ack',
      {},
      'comms.attention_acknowledged',
      { reason: 'deploy-timeout', by: 'kim' },
      { acknowledged: { by: 'kim', at: sampleTime('12:00') } },
    ],
    [
      'snooze',
      { for: '2h' },
      'comms.attention_snoozed',
      { reason: 'deploy-timeout', by: 'kim', until: sampleTime('14:00') },
      { snoozedUntil: sampleTime('14:00') },
    ],
    [
      'hand-over',
      { to: 'alex', note: 'your deploy' },
      'comms.attention_handed_over',
      { reason: 'deploy-timeout', by: 'kim', to: 'alex', note: 'your deploy' },
      { handedOver: { to: 'alex', by: 'kim', at: sampleTime('12:00'), note: 'your deploy' } },
    ],
    ['resolve', {}, 'comms.attention_resolved', { reason: 'deploy-timeout', by: 'kim' }, null],
  ])('%s appends an event, and the response shows its effect', async (word, more, event, detail, item) => {
    const { post, appended } = await serve({
      board: sampleBoard({ attention: [sampleAttention()] }),
    });
    expect(await post(`/api/attention/${word}`, { id, by: 'kim', ...more })).toMatchObject({
      status: 200,
      body: { ok: true, item },
    });
    expect(appended).toEqual([
      { event, source: 'cli', via: 'local', scope: { orchestrator: 'run-1', ticket: 'ENG-1' }, detail },
    ]);
    expect(appended.map((draft) => parseEventDraft(topics, draft).ok)).toEqual([true]);
  });

  test('in a team an item is handed over only to one of its persons', async () => {
    const board = sampleBoard({ attention: [sampleAttention()] });
    const last = { lastSeq: 1, lastAt: sampleTime('11:00') };
    board.members.set('a', { id: 'a', machine: 'laptop', person: 'mia', role: 'admin', ...last });
    board.members.set('b', { id: 'b', machine: 'desk', person: 'alex', role: 'member', ...last });
    const { post, appended } = await serve({ board });
    const handOver = (to: string) => post('/api/attention/hand-over', { id, by: 'kim', to });
    expect(await handOver('nobody')).toMatchObject({
      status: 400,
      body: {
        error: 'No person of the team is named nobody.',
        remedy: 'Hand it over to one of: alex, mia',
      },
    });
    expect(appended).toEqual([]);
    expect(await handOver('mia')).toMatchObject({ status: 200 });
  });

  test('an item of a feed is identified by its feed', async () => {
    const item = sampleAttention({
      orchestrator: null,
      ticket: null,
      feed: 'codehost',
      reason: 'feed-blind',
    });
    const { post, appended } = await serve({
      board: sampleBoard({ attention: [{ ...item, id: '-/codehost/feed-blind' }] }),
    });
    await post('/api/attention/ack', { id: '-/codehost/feed-blind' });
    expect(appended[0]).toMatchObject({ scope: {}, detail: { feed: 'codehost', by: 'a person' } });
  });

  test('an acknowledged item is not acknowledged again', async () => {
    const acknowledged = { by: 'kim', at: sampleTime('11:40') };
    const { post, appended } = await serve({
      board: sampleBoard({ attention: [sampleAttention({ acknowledged })] }),
    });
    expect((await post('/api/attention/ack', { id })).body).toMatchObject({
      ok: true,
      item: { acknowledged },
    });
    expect(appended).toEqual([]);
  });

  const stalled = mergedWorker({ status: 'stalled' }, { result: 'timeout' });

  test('resolve is refused while the cause exists, with the fix and the snooze', async () => {
    const board = sampleBoard({ attention: [sampleAttention()], workers: [stalled] });
    const { post, get, appended } = await serve({ board });
    expect(await post('/api/attention/resolve', { id })).toEqual({
      status: 409,
      body: {
        code: 'not-allowed-now',
        error: `${id} cannot be resolved: its cause still exists. Nothing has succeeded in production.`,
        remedy: `svc deploy retry ENG-1, or hide it for a while: svc attention snooze ${id} --for 2h`,
      },
    });
    expect(appended).toEqual([]);
    expect((await get('/api/attention')).body).toMatchObject({ open: [{ id }] });
    expect((await get('/api/board')).body).toMatchObject({ workers: [{ needs: ['deploy-timeout'] }] });
  });

  test.each([
    ['ack', {}, 'acknowledge'],
    ['snooze', { for: '2h' }, 'snooze'],
    ['hand-over', { to: 'mira' }, 'hand-over'],
    ['resolve', {}, 'resolve'],
  ])('%s is undone once', async (word, more, action) => {
    const item = sampleAttention();
    const { post, get, appended } = await serve({ board: sampleBoard({ attention: [item] }) });
    await post(`/api/attention/${word}`, { id, by: 'kim', ...more });
    expect(await post('/api/attention/undo', { id, by: 'kim' })).toEqual({
      status: 200,
      body: { ok: true, action, item },
    });
    expect(appended.map((draft) => parseEventDraft(topics, draft).ok)).toEqual([true, true]);
    expect(appended[1]).toMatchObject({
      event: 'comms.attention_undone',
      detail: { by: 'kim', line: 101 },
    });
    expect((await get('/api/attention')).body).toMatchObject({ open: [{ id }], snoozed: [] });
    expect(await post('/api/attention/undo', { id })).toMatchObject({
      status: 409,
      body: { code: 'not-allowed-now', remedy: 'List the open items: svc attention' },
    });
    expect(appended).toHaveLength(2);
  });

  test.each([
    ['undo', { id: 'run-9/ENG-1/x' }, 404, 'unknown-attention'],
    ['undo', { id }, 409, 'not-allowed-now'],
    ['undo', { id, for: '2h' }, 400, 'usage'],
    ['ack', { id: 'run-9/ENG-1/x' }, 404, 'unknown-attention'],
    ['ack', {}, 400, 'usage'],
    ['ack', { id, for: '2h' }, 400, 'usage'],
    ['ack', { id: 5 }, 400, 'usage'],
    ['ack', [], 400, 'usage'],
    ['ack', { id, by: 'x'.repeat(101) }, 400, 'usage'],
    ['snooze', { id }, 400, 'usage'],
    ['snooze', { id, for: '31d' }, 400, 'usage'],
    ['snooze', { id, for: 'long' }, 400, 'usage'],
  ])('%s %j is refused with %i', async (word, body, status, code) => {
    const { post, appended } = await serve({ board: sampleBoard({ attention: [sampleAttention()] }) });
    expect(await post(`/api/attention/${word}`, body)).toMatchObject({ status, body: { code } });
    expect(appended).toEqual([]);
  });
});

describe('workers', () => {
  test('why and receipt, of the newest worker or of a run', async () => {
    const old = sampleWorker({ orchestrator: 'run-0', status: 'failed', lastSeq: 5 });
    const { get } = await serve({
      board: sampleBoard({ workers: [old, mergedWorker()], pullRequests: [mergedPullRequest()] }),
    });
    expect((await get('/api/workers/eng-1/why')).body).toMatchObject({
      ticket: 'ENG-1',
      status: 'merged',
      waitsFor: 'a deployment of aaaaaaa to production',
    });
    expect((await get('/api/workers/ENG-1/why?orchestrator=run-0')).body).toMatchObject({ status: 'failed' });
    expect((await get('/api/workers/ENG-1/receipt')).body).toMatchObject({ shipped: false });
  });

  test('an unknown ticket is 404; a partly known one gets an answer', async () => {
    const { get } = await serve({ board: sampleBoard({ pullRequests: [samplePullRequest()] }) });
    expect((await get('/api/workers/ENG-1/why')).body).toMatchObject({ status: 'unknown' });
    for (const path of ['ENG-9/why', 'ENG-9/receipt', 'ENG-1/why?orchestrator=run-9'])
      expect(await get(`/api/workers/${path}`)).toMatchObject({
        status: 404,
        body: { code: 'unknown-ticket' },
      });
    for (const path of ['..%2fx/why', 'ENG-1/why?run=1', 'ENG-1/why?orchestrator='])
      expect(await get(`/api/workers/${path}`)).toMatchObject({ status: 400, body: { code: 'usage' } });
  });

  test('a valid decision appends an event, and the response shows the new state', async () => {
    const stalled = mergedWorker({ status: 'stalled' }, { result: 'timeout' });
    const { post, appended } = await serve({
      board: sampleBoard({ workers: [stalled], pullRequests: [mergedPullRequest()] }),
    });
    expect(
      await post('/api/workers/eng-1/deploy', { action: 'retry', by: 'kim', note: 'fixed' }),
    ).toMatchObject({
      status: 200,
      body: { ok: true, action: 'retry', why: { status: 'merged', until: sampleTime('12:30') } },
    });
    expect(appended).toEqual([
      {
        event: 'orchestrator.deploy.retried',
        occurredAt: '2026-01-02T12:00:00.000Z',
        source: 'cli',
        via: 'local',
        scope: {
          orchestrator: 'run-1',
          ticket: 'ENG-1',
          worker: 'worker-ENG-1',
          repo: 'acme/web',
          branch: 'eng-1-login',
          pr: 12,
          mergeSha: sampleMergeSha,
          environment: 'production',
        },
        detail: { by: 'kim', note: 'fixed' },
      },
    ]);
    expect(appended.map((draft) => parseEventDraft(topics, draft).ok)).toEqual([true]);
  });

  test('a decision that the lifecycle would ignore is refused, with the reason', async () => {
    const { post, appended } = await serve({
      board: sampleBoard({
        workers: [mergedWorker(), sampleWorker({ ticket: 'ENG-2' })],
        pullRequests: [mergedPullRequest(), samplePullRequest({ number: 13, ticket: 'ENG-3' })],
      }),
    });
    expect(await post('/api/workers/ENG-1/deploy', { action: 'retry' })).toEqual({
      status: 409,
      body: {
        error:
          'Nothing to retry: ENG-1 is merged. acme/web#12 is merged, but no deployment to production has started. Waiting for a deployment of aaaaaaa to production.',
        code: 'not-allowed-now',
        remedy: 'See why: svc why ENG-1',
      },
    });
    expect(await post('/api/workers/ENG-2/deploy', { action: 'accept' })).toMatchObject({ status: 409 });
    expect(await post('/api/workers/ENG-3/deploy', { action: 'accept' })).toMatchObject({
      status: 409,
      body: { error: 'No run works on ENG-3.' },
    });
    expect(await post('/api/workers/ENG-9/deploy', { action: 'accept' })).toMatchObject({ status: 404 });
    for (const body of [
      {},
      { action: 'later' },
      { action: 'retry', force: true },
      { action: 'retry', note: 5 },
    ])
      expect(await post('/api/workers/ENG-1/deploy', body)).toMatchObject({ status: 400 });
    expect(appended).toEqual([]);
  });
});
