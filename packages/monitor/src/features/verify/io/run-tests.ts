// Sets up a fresh worktree and runs the project's tests in it. All output goes to one bounded log.
import { join } from 'node:path';
import { endGroup } from '@svc/lib/end-group';
import { readdir, readText, stat } from '@svc/lib/paths';
import type { Environment } from '../../../kernel/config/resolved-value.ts';
import { Failure } from '../../../kernel/failure.ts';
import type { Config } from '../../config.ts';
import type { SetupVariables } from '../../context/setup-variables.ts';
import {
  hookSteps,
  openStepLog,
  runStep,
  type Step,
  type StepEnd,
  type StepLog,
  setupSteps,
  shellStep,
} from '../../worktrees/io/steps.ts';
import { detectTestCommand, type TestCommand, testCommandFiles } from '../test-command.ts';
import type { TestRun } from '../verdict.ts';

// The setup and tests of a merged commit see only the environment that tools need to be found and to work, and no secrets:
// nobody has reviewed that commit yet.

const wanted = [
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|TERM|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR)$/,
  /^XDG_(?:CONFIG_HOME|DATA_HOME|CACHE_HOME|STATE_HOME|RUNTIME_DIR)$/,
  /^(?:JAVA_HOME|GOPATH|GOROOT|GOMODCACHE|GOCACHE|CARGO_HOME|RUSTUP_HOME|NVM_DIR|VOLTA_HOME|PNPM_HOME)$/,
  /^(?:PYENV_ROOT|RBENV_ROOT|ASDF_DIR|ASDF_DATA_DIR|DOTNET_ROOT|ANDROID_HOME|PLAYWRIGHT_BROWSERS_PATH)$/,
  /^(?:SSL_CERT_FILE|SSL_CERT_DIR|NODE_EXTRA_CA_CERTS)$/,
];

function testEnvironment(
  inherited: Environment,
  own: { worktree: string; ticket: string; sha: string },
): Record<string, string> {
  const given: Record<string, string> = {};
  for (const [name, value] of Object.entries(inherited))
    if (value !== undefined && wanted.some((pattern) => pattern.test(name))) given[name] = value;
  if (given['PATH'] === undefined) throw new Failure('not-configured', 'The environment has no PATH.');
  return {
    ...given,
    // Test programs that would otherwise watch for changes or ask questions end on their own.
    CI: 'true',
    NO_COLOR: '1',
    WORKTREE_PATH: own.worktree,
    TICKET_ID: own.ticket,
    SVC_VERIFY_SHA: own.sha,
  };
}

const MAX_LOG_BYTES = 10 * 1024 * 1024;
const LONGEST_FILE = 1024 * 1024;
const GRACE_MS = 1_000;
const LONGEST_COMMAND = 200;

export type TestsRun = { tests: TestRun; exitCode: number | null; durationMs: number };

/** The work was abandoned; nothing can be concluded from it. */
export const stopped = (): Failure => new Failure('not-allowed-now', 'The verification was stopped.');

export async function runTests(options: {
  worktree: string;
  ticket: string;
  sha: string;
  config: Config;
  environment: Environment;
  variables: SetupVariables;
  logFile: string;
  testTimeoutMs: number;
  setupTimeoutMs: number;
  now: () => Date;
  signal?: AbortSignal | undefined;
  remember: (pid: number) => Promise<void>;
}): Promise<TestsRun> {
  const { worktree, config, now } = options;
  const forTests = testEnvironment(options.environment, options);
  // Its setup is code of the commit too (`npm ci` runs scripts): it sees no more than the tests.
  const forSetup = { ...forTests, ...options.variables };
  const log = limited(await openStepLog({ file: options.logFile, append: false }), MAX_LOG_BYTES);

  async function run(
    step: Step,
    environment: Readonly<Record<string, string>>,
    timeoutMs: number,
  ): Promise<StepEnd> {
    await log.heading(`[svc ${now().toISOString()}] ${step.from}: ${step.title}`);
    let leader: number | undefined;
    const end = await runStep(step, {
      folder: worktree,
      environment,
      timeoutMs,
      log,
      signal: options.signal,
      onLine: () => undefined,
      async onStart(pid) {
        leader = pid;
        await options.remember(pid);
      },
    });
    // Background processes do not outlive their step.
    if (leader !== undefined) await endGroup(leader, GRACE_MS);
    await log.heading(`[svc ${now().toISOString()}] ${endText(end)}`);
    if (log.isFull()) await log.heading(end.lastLines.map((line) => `  ${line}`).join('\n'));
    if (end.ended === 'stopped' || options.signal?.aborted) throw stopped();
    return end;
  }

  try {
    const { variables } = options;
    const setup = [...(await setupSteps(config, variables)), ...hookSteps(config, 'setup', variables)];
    let tests: TestsRun | undefined;
    for (const step of setup) {
      const end = await run(step, forSetup, options.setupTimeoutMs);
      if (end.ended === 'exit' && end.exitCode === 0) continue;
      tests = {
        tests: { state: 'setup-failed', step: step.title.slice(0, LONGEST_COMMAND), how: endText(end) },
        exitCode: end.ended === 'exit' ? end.exitCode : null,
        durationMs: end.ms,
      };
      break;
    }
    tests ??= await runTestCommand();
    // A teardown failure is in the log; it is not the commit's fault.
    for (const step of hookSteps(config, 'teardown', variables))
      await run(step, forSetup, options.setupTimeoutMs);
    return tests;
  } finally {
    await log.close();
  }

  async function runTestCommand(): Promise<TestsRun> {
    const found = await testCommandOf(worktree, config);
    if (found === undefined) {
      await log.heading(`[svc ${now().toISOString()}] no test command was found`);
      return { tests: { state: 'no-command' }, exitCode: null, durationMs: 0 };
    }
    const end = await run(shellStep(found.command, found.from), forTests, options.testTimeoutMs);
    return testsRun(found.command.slice(0, LONGEST_COMMAND), end);
  }
}

function testsRun(command: string, end: StepEnd): TestsRun {
  const { ms } = end;
  if (end.ended === 'timeout')
    return { tests: { state: 'timed-out', command, ms }, exitCode: null, durationMs: ms };
  const exitCode = end.ended === 'exit' ? end.exitCode : null;
  const tests: TestRun =
    exitCode === 0 ? { state: 'passed', command, ms } : { state: 'failed', command, ms, how: endText(end) };
  return { tests, exitCode, durationMs: ms };
}

function endText(end: StepEnd): string {
  switch (end.ended) {
    case 'exit':
      return end.exitCode === null ? `was killed by ${end.signal}` : `ended with exit code ${end.exitCode}`;
    case 'not-started':
      return end.reason === 'ENOENT'
        ? 'cannot run: the program is not installed'
        : `cannot run: ${end.reason}`;
    case 'timeout':
      return `took longer than ${Math.round(end.ms / 1000)} s and was stopped`;
    case 'stopped':
      return 'was stopped';
  }
}

async function testCommandOf(worktree: string, config: Config): Promise<TestCommand | undefined> {
  const { testCommand } = config.svc.orchestration;
  if (testCommand !== undefined) return { command: testCommand, from: 'svc.orchestration.testCommand' };
  const names = await readdir(worktree);
  const texts = new Map<string, string>();
  for (const name of testCommandFiles) {
    const path = join(worktree, name);
    if (!names.includes(name)) continue;
    const { size, isPlain } = await stat(path).then(
      (stats) => ({ size: stats.size, isPlain: stats.isFile() }),
      // A dangling link.
      () => ({ size: 0, isPlain: false }),
    );
    if (isPlain && size <= LONGEST_FILE) texts.set(name, await readText(path));
  }
  return detectTestCommand({ names, text: (name) => texts.get(name) });
}

/** All steps share one limit; headings are short and always kept. */
function limited(log: StepLog, maxBytes: number): StepLog & { isFull: () => boolean } {
  let left = maxBytes;
  return {
    ...log,
    isFull: () => left <= 0,
    async output(chunk) {
      if (left <= 0) return;
      const part = chunk.subarray(0, left);
      left -= part.length;
      await log.output(part);
      if (left <= 0)
        await log.heading(`\n[svc: more than ${maxBytes} bytes; only the last lines of the rest are kept]`);
    },
  };
}
