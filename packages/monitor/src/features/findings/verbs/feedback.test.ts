import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { testTerminal } from '@svc/testkit';
import { expect, test } from 'vitest';
import { runCommandLine } from '../../../cli/run.ts';

function project(config: unknown, consentFor: string[] = []) {
  const terminal = testTerminal();
  mkdirSync(join(terminal.home, '.svc'));
  mkdirSync(join(terminal.home, '.config/svc'), { recursive: true });
  const own = join(terminal.home, '.config/svc/config.json');
  writeFileSync(own, JSON.stringify({ svc: { feedback: { consentFor } } }), { mode: 0o600 });
  const file = join(terminal.home, '.svc', 'config.json');
  writeFileSync(file, JSON.stringify(config));
  return {
    terminal,
    file,
    own,
    consent: (...words: string[]) => runCommandLine(terminal, ['feedback', 'consent', ...words]),
  };
}

test.each([
  ['no block', {}, 1],
  ['false', { svc: { feedback: { autoFile: false } } }, 1],
  ['true, and the user agreed', { svc: { feedback: { autoFile: true } } }, 0, ['codehost:svc-dev/svc']],
  [
    'true, and the user agreed to another destination',
    { svc: { feedback: { autoFile: true } } },
    1,
    ['codehost:a/b'],
  ],
])('check is silent and answers by exit code: %s', async (_, config, code, agreed: string[] = []) => {
  const { terminal, consent } = project(config, agreed);
  expect(await consent('check')).toBe(code);
  expect(terminal.printed() + terminal.complained()).toBe('');
});

test('grant writes autoFile true to the project file; setting it to false revokes', async () => {
  const { terminal, file, own, consent } = project({ svc: { feedback: { labels: ['x'] } } });
  expect(await consent('grant')).toBe(0);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
    svc: { feedback: { labels: ['x'], autoFile: true } },
  });
  expect(JSON.parse(readFileSync(own, 'utf8')).svc.feedback.consentFor).toEqual(['codehost:svc-dev/svc']);
  expect(await consent('check')).toBe(0);
  await runCommandLine(terminal, ['config', 'set', 'svc.feedback.autoFile', 'false']);
  expect(await consent('check')).toBe(1);
});

test('deleting the feedback block revokes', async () => {
  const { terminal, file, consent } = project({ svc: { projectKey: 'demo' } });
  expect(await consent('grant')).toBe(0);
  expect(await consent('check')).toBe(0);
  writeFileSync(file, JSON.stringify({ svc: { projectKey: 'demo' } }));
  expect(await consent('check')).toBe(1);
  expect(await consent('status')).toBe(0);
  expect(terminal.printed()).toContain('not granted');
});

test('status prints text or JSON', async () => {
  const committed = { svc: { feedback: { autoFile: true } } };
  const { terminal, file, consent } = project(committed, ['codehost:svc-dev/svc']);
  expect(await consent('status')).toBe(0);
  expect(terminal.printed()).toBe(`granted (svc.feedback.autoFile is true in ${file})`);
  const waiting = project(committed);
  expect(await waiting.consent('status')).toBe(0);
  expect(waiting.terminal.printed()).toContain('you have not agreed to codehost:svc-dev/svc');
  const json = async (config: unknown) => {
    const given = project(config, ['codehost:svc-dev/svc']);
    expect(await given.consent('status', '--json')).toBe(0);
    const { granted, source } = JSON.parse(given.terminal.printed());
    return { granted, inFile: source === given.file, source };
  };
  expect(await json({ svc: { feedback: { autoFile: true } } })).toMatchObject({
    granted: true,
    inFile: true,
  });
  expect(await json({ svc: { feedback: { autoFile: false } } })).toMatchObject({
    granted: false,
    inFile: true,
  });
  expect(await json({})).toMatchObject({ granted: false, source: null });
});

test('an invalid configuration is no consent, and is reported', async () => {
  const { terminal, consent } = project({ svc: { feedback: { autoFile: 'yes' } } });
  expect(await consent('check')).toBe(4);
  expect(terminal.complained()).toContain('expected true or false, found string "yes"');
});
