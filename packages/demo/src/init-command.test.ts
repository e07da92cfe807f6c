import { mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import { expect, test } from 'vitest';
import { initCommand } from './init-command.ts';

const inClone = ['node', '--flag', '/home/mia/svc/packages/monitor/dist/svc.js'];

test.each([
  ['where the shell finds svc', inClone, ['bin'], 'svc init'],
  ['in a clone, started by npm', inClone, ['node_modules/.bin'], '/home/mia/svc/bin/svc init'],
  [
    'from source',
    ['node', '/home/mia/svc/packages/monitor/src/cli/start.ts'],
    [],
    '/home/mia/svc/bin/svc init',
  ],
  ['in a folder with a space', ['/home/m b/packages/monitor/dist/svc.js'], [], "'/home/m b/bin/svc' init"],
  [
    'by npx',
    ['/m/_npx/1/node_modules/svc-monitor/dist/svc.js'],
    ['node_modules/.bin'],
    'npx svc-monitor init',
  ],
])('the next command, %s', (_where, program, foldersWithSvc, command) => {
  const folder = temporaryFolder();
  const folders = foldersWithSvc.map((name) => join(folder, name));
  for (const each of folders) {
    mkdirSync(each, { recursive: true });
    writeFileSync(join(each, 'svc'), '', { mode: 0o755 });
  }
  expect(initCommand(program, { PATH: ['/nowhere', ...folders].join(delimiter) })).toBe(command);
});
