import { expect, test } from 'vitest';
import { checkWorkerCommand, DEFAULT_WORKER_COMMAND } from './worker-command.ts';

test.each([DEFAULT_WORKER_COMMAND, '/a:b', '/My_plugin-2:do_it-3'])('%s is valid', (command) => {
  expect(checkWorkerCommand(command)).toEqual({ ok: true, command });
});

test.each([
  '',
  '/oneshot',
  'svc-dev:oneshot',
  '/svc-dev:',
  '/:oneshot',
  '/svc-dev:one shot',
  '/svc-dev:oneshot\n',
  '/svc-dev:oneshot ENG-1',
  '/svc-dev:one:shot',
  '/svc dev:oneshot; rm -rf /',
  `/${'b'.repeat(300)}`,
])('%j is rejected, with the form and an example', (text) => {
  const checked = checkWorkerCommand(text);
  expect(checked).toMatchObject({ ok: false });
  expect(!checked.ok && checked.problem).toContain('/<plugin>:<skill>, for example /svc-dev:oneshot');
  expect(!checked.ok && checked.problem.length).toBeLessThan(250);
});
