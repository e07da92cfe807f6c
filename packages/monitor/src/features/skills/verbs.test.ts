import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { testTerminal } from '@svc/testkit';
import { expect, test } from 'vitest';
import { runCommandLine } from '../../cli/run.ts';

type Given = Parameters<typeof testTerminal>[0] & { programs?: readonly string[] };

/** A person with these programs. */
function person({ programs = [], ...given }: Given = {}) {
  const terminal = testTerminal(given);
  const { home } = terminal;
  const bin = join(home, 'bin');
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  };
  for (const name of programs) {
    put(`bin/${name}`, '#!/bin/sh\n');
    chmodSync(join(bin, name), 0o755);
  }
  const svc = (...words: string[]) =>
    runCommandLine({ ...terminal, environment: { ...terminal.environment, PATH: bin } }, words);
  const files = (): string[] =>
    ['.claude', '.agents'].flatMap((folder) =>
      existsSync(join(home, folder))
        ? readdirSync(join(home, folder), { recursive: true, withFileTypes: true })
            .filter((entry) => !entry.isDirectory())
            .map((entry) => join(entry.parentPath, entry.name).slice(home.length + 1))
            .toSorted()
        : [],
    );
  const text = (path: string): string => readFileSync(join(home, path), 'utf8');
  return { terminal, home, svc, put, files, text };
}

const oneshot = '.claude/skills/svc-dev/skills/oneshot/SKILL.md';
const plainOneshot = '.agents/skills/svc-dev-oneshot/SKILL.md';

test('Claude gets a plugin, the others plain skills; removing leaves what was there before', async () => {
  const { svc, files, text, put, home, terminal } = person({ programs: ['claude', 'codex-acp', 'gemini'] });
  put('.claude/skills/mine/SKILL.md', 'mine');
  put('.agents/skills/mine/SKILL.md', 'mine too');
  const before = files();
  expect(await svc('skills', 'install', '--yes'), terminal.complained()).toBe(0);
  expect(terminal.printed()).toContain(`Installed for claude: ${home}/.claude/skills`);
  expect(terminal.printed()).toContain(`Installed for codex, gemini: ${home}/.agents/skills`);
  expect(JSON.parse(text('.claude/skills/svc-dev/.claude-plugin/plugin.json'))).toMatchObject({
    name: 'svc-dev',
  });
  expect(text(oneshot)).toMatch(/^---\nname: oneshot\n[^]*The ticket: \$ARGUMENTS\./);
  // The name of a skill is that of its folder, and no such agent fills in an argument.
  expect(text(plainOneshot)).toMatch(
    /^---\nname: svc-dev-oneshot\n[^]*The ticket: the one that you were given\./,
  );
  const script = statSync(join(home, '.claude/skills/svc-dev/skills/merge-watcher/wait-for-merge.sh'));
  expect(script.mode & 0o111).toBe(0o111);
  expect(await svc('skills', 'remove', '--yes')).toBe(0);
  expect(files()).toEqual(before);
});

test('the files are shown first, and nothing is written without a yes', async () => {
  const { svc, files, terminal } = person({ programs: ['claude'] });
  expect(await svc('skills', 'install')).toBe(1);
  expect(terminal.printed()).toContain('+ svc-dev/skills/oneshot/SKILL.md');
  expect(terminal.complained()).toContain('Nothing was changed. To do it: svc skills install --yes');
  expect(files()).toEqual([]);
  const asked = person({ programs: ['claude'], answers: ['no', 'y', 'n'] });
  expect(await asked.svc('skills', 'install')).toBe(1);
  expect(asked.files()).toEqual([]);
  expect(await asked.svc('skills', 'install')).toBe(0);
  expect(asked.files()).toContain(oneshot);
  expect(await asked.svc('skills', 'remove')).toBe(1);
  expect(asked.files()).toContain(oneshot);
  // Nothing to do, nothing to ask.
  expect(await asked.svc('skills', 'install')).toBe(0);
  expect(asked.terminal.questions).toHaveLength(3);
});

test('a file that svc did not write is never replaced, nor one that was changed', async () => {
  const { svc, put, text, files, terminal } = person();
  put(oneshot, 'my own');
  expect(await svc('skills', 'install', '--agent', 'claude', '--yes')).not.toBe(0);
  expect(terminal.complained()).toContain('svc-dev/skills/oneshot/SKILL.md');
  expect(files()).toEqual([oneshot]);
  expect(text(oneshot)).toBe('my own');

  const other = person();
  expect(await other.svc('skills', 'install', '--agent', 'qwen', '--yes')).toBe(0);
  other.put(plainOneshot, 'changed');
  other.put('.agents/skills/svc-dev-create-pr/note.txt', 'mine');
  expect(await other.svc('skills', 'install', '--agent', 'codex', '--yes')).not.toBe(0);
  expect(await other.svc('skills', 'list')).toBe(0);
  expect(other.terminal.printed()).toMatch(/codex, gemini, opencode, qwen, copilot +changed/);
  expect(await other.svc('skills', 'remove', '--yes')).toBe(0);
  expect(other.files()).toEqual(['.agents/skills/svc-dev-create-pr/note.txt', plainOneshot]);
  expect(other.text(plainOneshot)).toBe('changed');
});

test('nothing is written through a link', async () => {
  const { svc, home, put } = person();
  put('elsewhere/file', 'x');
  mkdirSync(join(home, '.claude/skills'), { recursive: true });
  symlinkSync(join(home, 'elsewhere'), join(home, '.claude/skills/svc-dev'));
  expect(await svc('skills', 'install', '--agent', 'claude', '--yes')).not.toBe(0);
  expect(readdirSync(join(home, 'elsewhere'))).toEqual(['file']);
  expect(existsSync(join(home, '.claude/skills/.svc-dev.json'))).toBe(false);
});

test('an update replaces what an earlier version wrote, and removes what is no longer part of svc', async () => {
  const { svc, put, text, files, terminal } = person();
  await svc('skills', 'install', '--agent', 'claude', '--yes');
  const current = text(oneshot);
  // As if an earlier version had written it.
  const record = '.claude/skills/.svc-dev.json';
  const gone = '.claude/skills/svc-dev/skills/gone/SKILL.md';
  put(oneshot, 'old');
  put(gone, 'old');
  const written = JSON.parse(text(record)) as { version: string; files: Record<string, string> };
  const hash = createHash('sha256').update('old').digest('hex');
  written.files['svc-dev/skills/oneshot/SKILL.md'] = hash;
  written.files['svc-dev/skills/gone/SKILL.md'] = hash;
  put(record, JSON.stringify({ ...written, version: '0.0.1' }));
  await svc('skills', 'list', '--json');
  expect(terminal.printed()).toContain('"state": "outdated"');
  expect(await svc('skills', 'install', '--agent', 'claude', '--yes')).toBe(0);
  expect(text(oneshot)).toBe(current);
  expect(files()).not.toContain(gone);
});

test('without an agent in the PATH it asks for a name', async () => {
  const { svc, terminal, files } = person();
  expect(await svc('skills', 'install', '--yes')).toBe(2);
  expect(terminal.complained()).toContain('svc skills install --agent claude');
  expect(await svc('skills', 'remove', '--yes')).toBe(0);
  expect(terminal.printed()).toContain('No skills of svc are installed.');
  expect(files()).toEqual([]);
});

test('an agent that svc does not know is refused', async () => {
  const { svc, terminal } = person();
  expect(await svc('skills', 'install', '--agent', 'none', '--yes')).toBe(2);
  expect(terminal.complained()).toContain('Choose one of: claude, codex');
});
