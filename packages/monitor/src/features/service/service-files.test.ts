import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  isOwnService,
  launchdAgent,
  programOfService,
  type ServiceFacts,
  servicePath,
  serviceProblem,
  systemdUnit,
} from './service-files.ts';

const facts: ServiceFacts = {
  program: ['/usr/bin/node', '--max-semi-space-size=16', '/opt/svc/svc.js', 'monitor', 'run'],
  path: '/usr/bin:/bin',
  settings: [{ variable: 'SVC_MONITOR_PORT', value: '7500' }],
};

test('a complete unit', () => {
  const lines = systemdUnit(facts).split('\n');
  expect(lines[0]).toBe('# made by: svc monitor install');
  expect(lines).toContain(
    'ExecStart="/usr/bin/node" "--max-semi-space-size=16" "/opt/svc/svc.js" "monitor" "run"',
  );
  expect(lines).toContain('Environment="PATH=/usr/bin:/bin"');
  expect(lines).toContain('Environment="SVC_MONITOR_PORT=7500"');
  for (const line of [
    'Restart=on-failure',
    'KillMode=process',
    'NoNewPrivileges=true',
    'WantedBy=default.target',
  ])
    expect(lines).toContain(line);
});

test('a complete agent', () => {
  const text = launchdAgent(facts, { errorFile: '/h/service.log' });
  expect(text).toContain('<key>PATH</key>\n    <string>/usr/bin:/bin</string>');
  expect(text).toContain('<key>RunAtLoad</key>\n  <true/>');
  expect(text).toContain('<key>StandardErrorPath</key>\n  <string>/h/service.log</string>');
});

const awkward = [
  '/opt/a b/node',
  '/opt/50%/node',
  '/opt/$HOME/node',
  '/opt/${HOME}/$$/node',
  '/opt/"quoted"/node',
  "/opt/it's/node",
  '/opt/back\\slash/n',
  '/opt/<&>;&amp;/node',
  '/opt/ünï/node',
  '/opt/%%/%h/node',
];

test.each(awkward)('%s is read back as it is from both files', (word) => {
  const program = [word, word, 'monitor', 'run'];
  const made = { ...facts, program, settings: [{ variable: 'SVC_DATA_DIR', value: word }] };
  expect(programOfService(systemdUnit(made))).toEqual(program);
  expect(programOfService(launchdAgent(made, { errorFile: word }))).toEqual(program);
});

test('values are escaped in both files', () => {
  const settings = [{ variable: 'SVC_DATA_DIR', value: '/h/%u "x" \\n $HOME <b>' }];
  expect(systemdUnit({ ...facts, settings })).toContain(
    'Environment="SVC_DATA_DIR=/h/%%u \\"x\\" \\\\n $HOME <b>"',
  );
  expect(launchdAgent({ ...facts, settings }, { errorFile: '/e' })).toContain(
    '<string>/h/%u &quot;x&quot; \\n $HOME &lt;b&gt;</string>',
  );
  const program = ['/opt/$a/node', '/opt/$a/svc.js'];
  expect(systemdUnit({ ...facts, program })).toContain('ExecStart="/opt/$a/node" "/opt/$$a/svc.js"');
});

test.each([
  [{ ...facts, program: ['node'] }, /"node" is not an absolute path/],
  [{ ...facts, program: [] }, /not an absolute path/],
  [{ ...facts, path: '/a\nExecStart=/bin/evil' }, /control character/],
  [{ ...facts, settings: [{ variable: 'A', value: '\u0000' }] }, /control character/],
])('%j cannot be written', (given, words) => {
  expect(serviceProblem(given)).toMatch(words);
});

test('only a file with the mark is ours', () => {
  expect(serviceProblem(facts)).toBeUndefined();
  expect(isOwnService(systemdUnit(facts))).toBe(true);
  expect(isOwnService(launchdAgent(facts, { errorFile: '/e' }))).toBe(true);
  expect(isOwnService('[Unit]\nDescription=mine\n')).toBe(false);
  expect(isOwnService('')).toBe(false);
  expect(programOfService('[Unit]\n')).toBeUndefined();
});

test.each([
  ['/home/ann/bin:/usr/bin', 'systemd', '/home/ann/bin:/usr/bin:/opt/node/bin:/usr/local/bin:/bin'],
  [undefined, 'systemd', '/opt/node/bin:/usr/local/bin:/usr/bin:/bin'],
  [':.:bin:/x/node_modules/.bin:/h/.npm/_npx/1/b', 'systemd', '/opt/node/bin:/usr/local/bin:/usr/bin:/bin'],
  ['/bin', 'launchd', '/bin:/opt/node/bin:/usr/local/bin:/usr/bin:/opt/homebrew/bin'],
])('PATH %s on %s', (given, serviceManager, path) => {
  expect(servicePath(given, { nodeFolder: '/opt/node/bin', serviceManager })).toBe(path);
});

const analyze = '/usr/bin/systemd-analyze';

describe.skipIf(!existsSync(analyze))('systemd itself', () => {
  test('finds nothing wrong with a unit, also one with awkward paths', () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-unit-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    // The program must exist.
    const settings = awkward.map((value, index) => ({ variable: `SVC_X${index}`, value }));
    const program = [process.execPath, ...awkward, 'monitor', 'run'];
    const file = join(folder, 'svc-monitor.service');
    writeFileSync(file, systemdUnit({ ...facts, program, settings }));
    const verify = ['--user', '--man=no', '--generators=no', 'verify', file];
    const environment = { ...process.env, XDG_RUNTIME_DIR: folder, HOME: folder };
    expect(execFileSync(analyze, verify, { env: environment, encoding: 'utf8', stdio: 'pipe' })).toBe('');
  });
});
