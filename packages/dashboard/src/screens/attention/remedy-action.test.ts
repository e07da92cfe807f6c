import { afterEach, describe, expect, test, vi } from 'vitest';
import { actionOfCommand, actionsOf } from './remedy-action.ts';

const item = { remedy: null, reason: 'deploy-failed', ticket: 'ENG-1', orchestrator: 'run-1' };

afterEach(() => vi.unstubAllGlobals());

describe('the request for a command', () => {
  test.each([
    ['svc deploy retry ENG-1', '/api/workers/ENG-1/deploy', { action: 'retry', orchestrator: 'run-1' }],
    ['svc deploy accept eng-1', '/api/workers/eng-1/deploy', { action: 'accept', orchestrator: 'run-1' }],
    ['svc deploy retry ENG-2', '/api/workers/ENG-2/deploy', { action: 'retry' }],
    ['svc orchestrate retry run-1 ENG-1', '/api/runs/run-1/retry', { ticket: 'ENG-1' }],
    ['svc outbox retry 12:move-ticket:ENG-1', '/api/outbox/retry', { key: '12:move-ticket:ENG-1' }],
  ])('%s', async (command, url, body) => {
    const request = vi.fn<typeof fetch>(async () => new Response('{}'));
    vi.stubGlobal('fetch', request);
    await actionOfCommand(item, command)?.send({});
    const sent = expect.objectContaining({ method: 'POST', body: JSON.stringify(body) });
    expect(request).toHaveBeenCalledExactlyOnceWith(url, sent);
  });

  test('includes the name of the person, except for the outbox, which takes none', async () => {
    const bodies: unknown[] = [];
    vi.stubGlobal('fetch', async (_url: string, { body }: { body: string }) => {
      bodies.push(JSON.parse(body));
      return new Response('{}');
    });
    for (const command of [
      'svc deploy accept ENG-2',
      'svc orchestrate retry run-1 ENG-1',
      'svc outbox retry 1:x',
    ])
      await actionOfCommand(item, command)?.send({ by: 'kim' });
    expect(bodies).toEqual([{ action: 'accept', by: 'kim' }, { ticket: 'ENG-1', by: 'kim' }, { key: '1:x' }]);
  });

  test.each([
    'svc why ENG-1',
    'svc deploy retry',
    'svc deploy retry ENG-1 && rm -rf /',
    'svc deploy retry ENG-1\nsvc deploy accept ENG-2',
    'svc deploy retry ../../health',
    ' svc deploy retry ENG-1',
    'svc deploy destroy ENG-1',
    'svc outbox retry',
    'svc outbox retry a b',
    'svc orchestrate cancel run-1 ENG-1',
    'svc setup-webhooks',
    '',
  ])('%j can only be copied', (command) => expect(actionOfCommand(item, command)).toBeNull());
});

describe('the actions for an item', () => {
  const labels = (given: { reason: string; remedy: string }, isManaged: boolean) =>
    actionsOf({ ...item, ...given }, { isManaged }).map(({ command }) => command);
  test.each([
    ['deploy-failed', 'svc deploy retry ENG-1', false, ['svc deploy retry ENG-1']],
    [
      'deploy-timeout',
      'svc deploy retry ENG-1',
      false,
      ['svc deploy retry ENG-1', 'svc deploy accept ENG-1'],
    ],
    ['deploy-timeout', 'svc deploy accept ENG-1', false, ['svc deploy accept ENG-1']],
    ['worker-dead', 'svc why ENG-1', false, []],
    ['worker-dead', 'svc why ENG-1', true, ['svc orchestrate retry run-1 ENG-1']],
    ['outbox-gave-up', 'Run: svc outbox retry 1:notify:x', false, ['svc outbox retry 1:notify:x']],
    ['question', 'svc why ENG-1', true, []],
  ])('%s with %s (managed: %s)', (reason, remedy, isManaged, expected) =>
    expect(labels({ reason, remedy }, isManaged)).toEqual(expected),
  );
});
