import { afterEach, describe, expect, test, vi } from 'vitest';
import { actionOfCommand, actionsOf } from './remedy-action.ts';

const item = { remedy: null, reason: 'deploy-failed', ticket: 'ENG-1', orchestrator: 'run-1' };

afterEach(() => vi.unstubAllGlobals());

describe('the route of a command', () => {
  test.each([
    ['svc deploy retry ENG-1', '/api/workers/ENG-1/deploy', { word: 'retry', orchestrator: 'run-1' }],
    ['svc deploy accept eng-1', '/api/workers/eng-1/deploy', { word: 'accept', orchestrator: 'run-1' }],
    ['svc deploy retry ENG-2', '/api/workers/ENG-2/deploy', { word: 'retry' }],
    ['svc orchestrate retry run-1 ENG-1', '/api/runs/run-1/retry', { ticket: 'ENG-1' }],
    ['svc outbox retry 12:move-ticket:ENG-1', '/api/outbox/retry', { key: '12:move-ticket:ENG-1' }],
  ])('%s', async (command, url, body) => {
    const asked = vi.fn<typeof fetch>(async () => new Response('{}'));
    vi.stubGlobal('fetch', asked);
    await actionOfCommand(item, command)?.send({});
    const sent = expect.objectContaining({ method: 'POST', body: JSON.stringify(body) });
    expect(asked).toHaveBeenCalledExactlyOnceWith(url, sent);
  });

  test('carries the name of the person, but to the outbox, which asks for none', async () => {
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
    expect(bodies).toEqual([{ word: 'accept', by: 'kim' }, { ticket: 'ENG-1', by: 'kim' }, { key: '1:x' }]);
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
    'setup-webhooks.sh',
    '',
  ])('%j can only be copied', (command) => expect(actionOfCommand(item, command)).toBeNull());
});

describe('what can be done about an item', () => {
  const labels = (given: { reason: string; remedy: string }, isConducted: boolean) =>
    actionsOf({ ...item, ...given }, { isConducted }).map(({ command }) => command);
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
  ])('%s with %s (conducted: %s)', (reason, remedy, isConducted, expected) =>
    expect(labels({ reason, remedy }, isConducted)).toEqual(expected),
  );
});
