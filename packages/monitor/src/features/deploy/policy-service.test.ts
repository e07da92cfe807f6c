import { sampleBoard, sampleTime, verifiedPolicy } from '@svc/testkit';
import { expect, test } from 'vitest';
import { parseEventDraft } from '../../kernel/log/event-line.ts';
import { startStateServer } from '../testing/state-server.ts';
import { topics } from '../topics.ts';

const required = {
  repo: 'acme/web',
  relaxed: null,
  prefixes: [],
  requiredBy: [{ project: '/src/web', policy: verifiedPolicy, at: sampleTime('08:00'), seq: 3 }],
};
const stated = {
  project: '/src/web',
  deploy: { 'acme/web': verifiedPolicy },
  relaxes: [],
  others: 'default' as const,
};

async function serve(board: Parameters<typeof sampleBoard>[0]) {
  const { port, appended } = await startStateServer({ board: sampleBoard(board), now: sampleTime('12:00') });
  const call = async (path: string, body?: object) => {
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const headers = body === undefined ? {} : { 'Content-Type': 'application/json' };
    const response = await fetch(`http://127.0.0.1:${port}/api/deploy/policy${path}`, { ...sent, headers });
    return { status: response.status, body: await response.json() };
  };
  return { call, appended };
}

test('what holds, of all repositories and of one', async () => {
  const { call } = await serve({ policies: [required], projects: [stated] });
  expect(await call('')).toMatchObject({
    status: 200,
    body: { policies: [{ repo: 'acme/web', verification: 'required', since: sampleTime('08:00') }] },
  });
  expect(await call('?repo=Acme/API')).toMatchObject({
    body: { policies: [{ repo: 'acme/api', verification: 'skipped', why: 'No project names it.' }] },
  });
  expect((await call('?repo=acme')).status).toBe(400);
});

test('a person relaxes a repository whose project is gone, once', async () => {
  const { call, appended } = await serve({ policies: [required] });
  const body = { repo: 'Acme/Web', by: 'kim', note: 'moved' };
  expect(await call('/relax', body)).toMatchObject({
    status: 200,
    body: { ok: true, policy: { verification: 'skipped', relaxed: { by: 'kim' } } },
  });
  expect(appended).toMatchObject([
    { event: 'orchestrator.deploy.policy_relaxed', scope: { repo: 'acme/web' }, detail: { by: 'kim' } },
  ]);
  expect(parseEventDraft(topics, appended[0])).toMatchObject({ ok: true });
  expect(await call('/relax', body)).toMatchObject({ status: 409 });
});

test('what a served project states is not relaxed', async () => {
  const { call, appended } = await serve({ policies: [required], projects: [stated] });
  expect(await call('/relax', { repo: 'acme/web', by: 'kim' })).toMatchObject({
    status: 409,
    body: {
      remedy: expect.stringContaining('svc config set svc.deploy.acme/web.skipDeployVerification true'),
    },
  });
  expect(appended).toEqual([]);
});
