// svc demo: starts the demo (packages/demo) as its own process, with the command that runs this svc. Through the channel
// between them the demo notices that this process has ended, however it ended, and cleans up.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { basename, join } from 'node:path';
import { type CommandUnknownOpts, InvalidArgumentError } from '@commander-js/extra-typings';
import { isThere } from '@svc/lib/paths';
import type { Terminal } from '../../cli/kit/terminal.ts';
import { verb } from '../../cli/kit/verb.ts';
import type { Environment } from '../../kernel/config/resolved-value.ts';
import { Failure } from '../../kernel/failure.ts';
import { type Host, thisProcess } from '../../kernel/instance/control.ts';

const LONGEST_MINUTES = 120;

type Run = (
  command: readonly string[],
  environment: Environment,
  host: Pick<Host, 'onStopSignal'>,
) => Promise<number>;

export function demoVerb(
  terminal: Terminal,
  { host = thisProcess, run = runInForeground }: { host?: Host; run?: Run } = {},
): CommandUnknownOpts {
  return verb('demo', {
    summary: 'Play a simulated team day; no account or network needed',
    details:
      'It runs the real daemon and dashboard in a temporary folder. The board stays open after the day, until Enter or Ctrl-C; then everything is removed.\nExit codes: 0 ended, 6 the daemon cannot start (is the port taken?), 70 a bug, 130 Ctrl-C',
    example: ['svc demo', 'svc demo --minutes 10 --no-open', 'svc demo --port 7401'],
  })
    .option('--minutes <minutes>', 'length of the day', minutesFrom, 3)
    .option('--port <port>', 'port of the dashboard (default: any free port)', portFrom, 0)
    .option('--no-open', 'do not open a browser')
    .option('--exit', 'end when the day is over')
    .action(async ({ minutes, port, open, exit }) => {
      const start = demoStart();
      if (!(await isThere(start)))
        throw new Failure(
          'not-in-this-version',
          `The demo is not part of this build (${start}).`,
          'Build it: npm run build',
        );
      const [node = process.execPath] = host.program;
      const args = [`--minutes=${minutes}`, `--port=${port}`];
      if (!open) args.push('--no-open');
      if (exit) args.push('--exit');
      const code = await run([node, start, ...args, '--', ...host.program], terminal.environment, host);
      if (code !== 0) host.exit(code);
    });
}

/** `folder` is the one of this file: `…/dist` in a build. */
export function demoStart(folder: string = import.meta.dirname): string {
  return basename(folder) === 'dist'
    ? join(folder, 'demo', 'demo.js')
    : join(folder, '..', '..', '..', '..', 'demo', 'src', 'demo.ts');
}

/** Resolves with its exit code. It uses the terminal itself, and ends by itself after a signal. */
const runInForeground: Run = ([command = '', ...args], environment, host) => {
  const child = spawn(command, args, { env: environment, stdio: ['inherit', 'inherit', 'inherit', 'ipc'] });
  let asked: NodeJS.Signals | undefined;
  host.onStopSignal((name) => {
    asked = name;
    child.kill(name);
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      if (code !== null) return resolve(code);
      // It ended before there was anything to clean up.
      if (asked !== undefined && signal === asked) return resolve(128 + constants.signals[asked]);
      reject(
        new Failure(
          'start-failed',
          `The demo was killed (${signal}).`,
          'The next demo removes what it left: svc demo',
        ),
      );
    });
  });
};

function minutesFrom(text: string): number {
  const minutes = Number(text);
  if (text.trim() !== '' && minutes > 0 && minutes <= LONGEST_MINUTES) return minutes;
  throw new InvalidArgumentError(`Expected a number above 0 and at most ${LONGEST_MINUTES}.`);
}

function portFrom(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('Expected a port number from 0 to 65535.');
}
