// A shell on one machine of the guide. Blocks of commands run in it one after the other, so a variable or a folder of one
// block is still set in the next. The first command that fails ends the block.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export type GuideShell = {
  /** Returns standard output, without messages and progress. Throws when a command fails. */
  run: (commands: string) => Promise<string>;
  end: () => Promise<void>;
};

const END = '=== end of the block ===';

export function openShell(given: {
  folder: string;
  /** For the blocks' scripts. */
  scratch: string;
  environment: Record<string, string>;
  stuckAfterMs: number;
}): GuideShell {
  // In its own process group, so that background processes are ended with it.
  const shell = spawn('bash', ['--noprofile', '--norc'], {
    cwd: given.folder,
    env: given.environment,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let printed = '';
  let errors = '';
  let check: (() => void) | undefined;
  const closed = once(shell, 'close');
  shell.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
    check?.();
  });
  shell.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  void closed.then(() => check?.());
  let count = 0;

  return {
    async run(commands) {
      count += 1;
      const file = join(given.scratch, `block-${count}.sh`);
      writeFileSync(file, `${commands}\n`);
      printed = '';
      errors = '';
      const report = (): string => `${commands}\n\n${printed}\n${errors}`;
      const ended = new Promise<void>((resolve, reject) => {
        const stuck = setTimeout(
          () => reject(new Error(`it did not end within ${given.stuckAfterMs} ms:\n${report()}`)),
          given.stuckAfterMs,
        );
        check = () => {
          const isOver = printed.includes(END);
          if (!isOver && shell.exitCode === null) return;
          clearTimeout(stuck);
          if (isOver) resolve();
          else reject(new Error(`it failed with exit code ${shell.exitCode}:\n${report()}`));
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
        for (let round = 0; round < 100 && signalGroup(pid, signal); round += 1) await sleep(50);
      }
      await closed;
    },
  };
}

/** Signals the shell's process group; false if it is empty. */
function signalGroup(group: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(-group, signal);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false;
    throw error;
  }
}
