// A real shell at a real terminal, with svc and its completion: keys are sent as a person would press them, and what
// the shell then starts is recorded. The terminal is that of script(1); what ends it ends the shell too.
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder, until } from '@svc/testkit';
import { build } from 'rolldown';
import { onTestFinished } from 'vitest';
import { VOCABULARY_FILE } from '../src/cli/completion/find-completions.ts';
import { makeVocabulary } from '../src/cli/completion/make-vocabulary.ts';
import { completionScript, type Shell } from '../src/cli/completion/scripts.ts';

const PROMPT = 'ready> ';
const SVC_WAS_HERE = 'svc was here';

/** Without the settings of the machine, so only ours are in effect. */
const commands: Readonly<Record<Shell, (folder: string) => string>> = {
  bash: (folder) => `bash --noprofile --rcfile '${folder}/rc' -i`,
  zsh: () => 'zsh -d -i',
  fish: (folder) => `fish --no-config --init-command 'source ${folder}/rc'`,
};

const beginnings: Readonly<Record<Shell, string>> = {
  bash: `PS1='${PROMPT}'\n`,
  // Tab only completes: by default it is also zsh's key to expand substitutions.
  zsh: `PS1='${PROMPT}'; autoload -Uz compinit; compinit -D -u; bindkey '^I' complete-word\n`,
  fish: `function fish_prompt; printf '${PROMPT}'; end\nfunction fish_greeting; end\n`,
};

export type ShellAtTerminal = {
  folder: string;
  /** What `svc complete` prints from now on: values that no svc would offer. */
  answers: (lines: readonly string[]) => void;
  /** Presses the keys, waits until svc was started `times` times, and returns the arguments of each. */
  press: (keys: string, times?: number) => Promise<string[][]>;
  /** Presses the keys and waits until all of these are on the screen. */
  sees: (keys: string, words: readonly string[]) => Promise<string>;
};

/** `environment` is that of the shell, and of svc in it. */
export async function shellAtTerminal(
  shell: Shell,
  { environment = {} }: { environment?: Record<string, string> } = {},
): Promise<ShellAtTerminal> {
  needProgram(shell, shell);
  needProgram('script', 'bsdutils');
  const folder = temporaryFolder();
  const calls = join(folder, 'calls');
  writeFileSync(calls, '');
  writeFileSync(join(folder, shell === 'zsh' ? '.zshrc' : 'rc'), beginnings[shell] + completionScript(shell));
  await writeSvc(folder);
  const env = {
    HOME: folder,
    ZDOTDIR: folder,
    PATH: `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}`,
    // Fish lists nothing on a terminal that cannot move its cursor.
    TERM: shell === 'fish' ? 'xterm' : 'dumb',
    LANG: 'C.UTF-8',
    SVC_DATA_DIR: join(folder, 'svc'),
    ...environment,
  };
  const child = spawn('script', ['-qfec', commands[shell](folder), '/dev/null'], { cwd: folder, env });
  onTestFinished(() => end(child));
  let screen = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (screen += text));
  const comes = (what: string, isSo: () => boolean) =>
    until(() => {
      if (isSo()) return true;
      throw new Error(`${what} did not come; the screen of ${shell}:\n${screen}`);
    });
  await comes('the prompt', () => screen.includes(PROMPT));
  const started = (): string[][] =>
    readFileSync(calls, 'utf8')
      .split('\u0002')
      .slice(0, -1)
      .map((call) => call.split('\u0001').slice(0, -1));
  return {
    folder,
    answers: (lines) => writeFileSync(join(folder, 'answer'), `${lines.join('\n')}\n`),
    async press(keys, times = 1) {
      const before = started().length;
      screen = '';
      child.stdin.write(keys);
      await comes(`svc, started ${times} times`, () => started().length >= before + times);
      // The shell reads again: keys that are pressed earlier reach the terminal and not its editor.
      await comes('the next prompt', () => {
        const pieces = screen.split(SVC_WAS_HERE);
        return pieces.length > times && pieces.at(-1)?.includes(PROMPT) === true;
      });
      return started().slice(before);
    },
    async sees(keys, words) {
      screen = '';
      child.stdin.write(keys);
      await comes(words.join(', '), () => words.every((word) => screen.includes(word)));
      return screen;
    },
  };
}

/** Records the arguments of each svc; only completion is the real one, as in a build. */
async function writeSvc(folder: string): Promise<void> {
  const bin = join(folder, 'bin');
  await build({
    cwd: join(import.meta.dirname, '..'),
    input: { complete: 'src/cli/completion/main.ts' },
    platform: 'node',
    external: [/make-vocabulary/],
    output: { dir: bin, format: 'esm' },
  });
  writeFileSync(join(bin, 'package.json'), '{"type":"module"}');
  writeFileSync(join(bin, VOCABULARY_FILE), JSON.stringify(await makeVocabulary()));
  const svc = [
    '#!/bin/sh',
    `if [ "$1" = complete ] && [ -f '${folder}/answer' ]; then exec cat '${folder}/answer'; fi`,
    `if [ "$1" = complete ]; then exec '${process.execPath}' '${bin}/complete.js' "$@"; fi`,
    `echo '${SVC_WAS_HERE}'`,
    `{ printf '%s\\001' "$@"; printf '\\002'; } >> '${folder}/calls'`,
    '',
  ];
  writeFileSync(join(bin, 'svc'), svc.join('\n'), { mode: 0o755 });
}

function needProgram(name: string, apt: string): void {
  const { error } = spawnSync(name, ['--version'], { stdio: 'ignore' });
  if (error !== undefined)
    throw new Error(`${name} is not installed, so its completion cannot be tested: apt-get install ${apt}`);
}

/** The line is abandoned and the input ends, which ends the shell; otherwise its terminal closes, which hangs up. */
async function end(child: ChildProcessWithoutNullStreams): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.stdin.end('\u0003\u0004');
  const late = setTimeout(() => child.kill('SIGKILL'), 1_000);
  await gone;
  clearTimeout(late);
}
