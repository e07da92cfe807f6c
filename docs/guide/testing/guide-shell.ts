// A shell at one machine of the guide: blocks of commands run in it one after the other, so that a variable or a folder
// of one block holds in the next. The first command that fails ends the block.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export type GuideShell = {
  /** What was printed on standard output; messages and progress are for people. Throws when a command fails. */
  run: (commands: string) => Promise<string>;
  end: () => Promise<void>;
};

const END = '=== end of the block ===';

export function openShell(given: {
  folder: string;
  /** For the blocks themselves; gone with the test. */
  scratch: string;
  environment: Record<string, string>;
  stuckAfterMs: number;
}): GuideShell {
  // A process group of its own: what was started in the background is ended with it.
  const shell = spawn('bash', ['--noprofile', '--norc'], {
    cwd: given.folder,
    env: given.environment,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let printed = '';
  let complained = '';
  let look: (() => void) | undefined;
  const closed = once(shell, 'close');
  shell.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
    look?.();
  });
  shell.stderr.on('data', (chunk: Buffer) => (complained += chunk.toString()));
  void closed.then(() => look?.());
  let count = 0;

  return {
    async run(commands) {
      count += 1;
      const file = join(given.scratch, `block-${count}.sh`);
      writeFileSync(file, `${commands}\n`);
      printed = '';
      complained = '';
      const said = (): string => `${commands}\n\n${printed}\n${complained}`;
      const ended = new Promise<void>((resolve, reject) => {
        const stuck = setTimeout(
          () => reject(new Error(`it did not end within ${given.stuckAfterMs} ms:\n${said()}`)),
          given.stuckAfterMs,
        );
        look = () => {
          const isOver = printed.includes(END);
          if (!isOver && shell.exitCode === null) return;
          clearTimeout(stuck);
          if (isOver) resolve();
          else reject(new Error(`it failed with exit code ${shell.exitCode}:\n${said()}`));
        };
      });
      shell.stdin.write(`set -eo pipefail\n. '${file}' </dev/null\necho '${END}'\n`);
      await ended;
      return printed.slice(0, printed.indexOf(END));
    },
    async end() {
      const { pid } = shell;
      if (pid === undefined) return;
      shell.stdin.destroy();
      for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
        for (let round = 0; round < 100 && tell(pid, signal); round += 1) await sleep(50);
      }
      await closed;
    },
  };
}

/** Signals the whole group of the shell; false when nobody is left in it. */
function tell(group: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(-group, signal);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false;
    throw error;
  }
}
