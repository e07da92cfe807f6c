// A person's shell at a real terminal, that of script(1): lines and keys are sent as they are typed, one after another has
// been answered on the screen. Every one counts.
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { endWithScript } from '../../packages/testkit/src/script.ts';
import { until, WAIT_MS } from '../../packages/testkit/src/waiting.ts';
import type { Hands } from './hands.ts';

/** A text that appears on the screen, and what is typed then. Each is awaited in order, after the previous one. */
export type Turn = readonly [appears: string, typed: string];
export type Said = { code: number; screen: string };

/** The command of its process, and of script(1), which keeps its terminal. */
export const SHELL = 'bash --noprofile --norc -i';
const PROMPT = /\[(\d+)\] ready> $/;
/** A command that asks several services and starts a daemon on a busy machine. */
const LONGEST_MS = 2 * WAIT_MS;

export async function openTerminal(
  { folder, environment }: { folder: string; environment: Record<string, string> },
  hands: Hands,
) {
  const child = endWithScript(
    spawn('script', ['-qf', '/dev/null', '-c', `stty rows 50 cols 120; exec ${SHELL}`], {
      cwd: folder,
      env: { ...environment, TERM: 'xterm', PS1: '[$?] ready> ', HISTFILE: '/dev/null' },
    }),
  );
  let screen = '';
  let changed = Promise.withResolvers<void>();
  const onText = (text: string): void => {
    screen += stripVTControlCharacters(text);
    changed.resolve();
    changed = Promise.withResolvers();
  };
  child.stdout.setEncoding('utf8').on('data', onText);
  child.once('exit', () => onText('\nthe terminal has ended\n'));

  async function appears<T>(what: string, find: () => T | null | undefined | false): Promise<T> {
    for (const deadline = performance.now() + LONGEST_MS; ; ) {
      const next = changed.promise;
      const found = find();
      if (found) return found;
      const left = deadline - performance.now();
      if (left <= 0) throw new Error(`${what} did not appear at the terminal:\n${screen}`);
      await Promise.race([next, sleep(Math.min(left, 1_000))]);
    }
  }

  function type(text: string, shown: string): void {
    hands.did(`types ${shown}`);
    // A prompt reads input before it draws itself.
    child.stdin.write(text);
  }

  await appears('the prompt', () => PROMPT.exec(screen));
  return {
    /** Types a line, then the answers to what appears, and waits for the next prompt. */
    async run(line: string, turns: readonly Turn[] = []): Promise<Said> {
      screen = '';
      type(`${line}\r`, line);
      let seen = 0;
      for (const [text, typed] of turns) {
        seen = await appears(text, () => {
          const at = screen.indexOf(text, seen);
          return at < 0 ? undefined : at + text.length;
        });
        type(typed, JSON.stringify(typed));
      }
      const [, code] = await appears('the prompt', () => PROMPT.exec(screen));
      return { code: Number(code), screen: screen.replaceAll('\r', '') };
    },
    /** The same; throws if the command fails. */
    async must(line: string, turns: readonly Turn[] = []): Promise<string> {
      const said = await this.run(line, turns);
      if (said.code !== 0) throw new Error(`${line} ended with ${said.code}:\n${said.screen}`);
      return said.screen;
    },
    async close(): Promise<void> {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.stdin.end('\u0003\u0004');
      await until(() => child.exitCode !== null || child.signalCode !== null).catch(() =>
        child.kill('SIGKILL'),
      );
    },
  };
}
