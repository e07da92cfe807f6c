// The agents on this machine: where their programs are, and what they answer when they are asked.
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import { jsonIn } from '@svc/contract/payload-fields';
import { endGroup } from '@svc/lib/end-group';
import { messageOf } from '@svc/lib/errors';
import { isExecutable, realpath } from '@svc/lib/paths';
import { within } from '@svc/lib/timeout';
import { errorTail, inOneLine } from '../agent-output.ts';
import type { AskedAgent } from '../check.ts';
import type { KnownAgent } from '../choice.ts';
import { createLineReader } from '../line-reader.ts';
import { dueRequest, methodNotFound, requestName } from '../messages.ts';
import { foldAgent, newAgentSession } from '../session.ts';

/** The program's full path, found in the PATH that the agent would get; null: not installed. Runs nothing. */
export async function locateAgent(
  { command, env }: Pick<KnownAgent, 'command' | 'env'>,
  environment: Readonly<Record<string, string>>,
): Promise<string | null> {
  if (isAbsolute(command)) return (await isExecutable(command)) ? command : null;
  const { PATH = '' } = { ...environment, ...env };
  // What a relative folder means depends on where the agent is started.
  for (const folder of PATH.split(delimiter).filter(isAbsolute)) {
    const path = join(folder, command);
    if (await isExecutable(path)) return path;
  }
  return null;
}

const GRACE_MS = 2_000;
/** What it wrote before its end may still be on the way. */
const OUTPUT_AFTER_END_MS = 500;
const LONGEST_LINE = 4 * 1024 * 1024;
const MOST_OUTPUT = 16 * 1024 * 1024;
const KEPT_ERRORS = 4 * 1024;
/** For the report of its login, which some agents send on their own after they have opened a session. */
const LOGIN_MS = 6_000;

type Question = {
  agent: KnownAgent;
  program: string;
  /** What every agent gets. */
  environment: Readonly<Record<string, string>>;
  /** For each answer. */
  answerMs: number;
  signal?: AbortSignal | undefined;
};

/** Starts the agent in an empty folder, opens a session without work, and ends it with everything that it started. */
export async function askAgent(question: Question): Promise<AskedAgent> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'svc-agent-')));
  try {
    return await askIn(folder, question);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function askIn(folder: string, question: Question): Promise<AskedAgent> {
  const { agent, program, environment, answerMs, signal } = question;
  let session = newAgentSession;
  let onAnswer: (() => void) | undefined;
  let size = 0;
  let errors = Buffer.alloc(0);
  const sent: string[] = [];
  const failed = Promise.withResolvers<string>();
  const reported = Promise.withResolvers<void>();
  const child = spawn(program, agent.args, {
    cwd: folder,
    env: { ...environment, ...agent.env },
    detached: true,
    stdio: 'pipe',
  });
  const reportEnd = (): void => {
    const printed = inOneLine(errorTail(errors.toString()));
    const how = child.signalCode ?? `exit code ${child.exitCode}`;
    failed.resolve(`ended with ${how}${printed === '' ? '' : ` (${printed})`}`);
  };
  child.once('error', (error) => failed.resolve(`could not be started: ${messageOf(error)}`));
  child.once('close', reportEnd);
  const interrupt = (): void => failed.resolve('was interrupted');
  signal?.addEventListener('abort', interrupt);
  // A process that it left running may keep its output open.
  child.once('exit', () => setTimeout(reportEnd, OUTPUT_AFTER_END_MS).unref());
  // It has ended, which is reported.
  child.stdin.on('error', () => undefined);
  const write = (message: object): void =>
    void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  child.stderr.on('data', (bytes: Buffer) => {
    errors = Buffer.concat([errors, bytes]).subarray(-KEPT_ERRORS);
  });
  const lines = createLineReader(LONGEST_LINE);
  child.stdout.on('data', (bytes: Buffer) => {
    size += bytes.length;
    if (size > MOST_OUTPUT) return failed.resolve(`wrote more than ${MOST_OUTPUT} bytes`);
    lines.add(bytes, (line, { isWhole }) => {
      const message = isWhole ? jsonIn(line) : undefined;
      if (message === undefined) return;
      session = foldAgent(session, { from: 'agent', message });
      if (session.login !== null) reported.resolve();
      if (message['method'] !== undefined && message['id'] !== undefined) write(methodNotFound(message));
      if (Object.keys(session.pending).length === 0) onAnswer?.();
    });
  });

  const setup = {
    cwd: folder,
    resume: null,
    mode: null,
    model: null,
    ticket: null,
    prompt: '',
    continuation: null,
  };
  async function ask(): Promise<string | null> {
    while (!sent.includes('session/new')) {
      const request = dueRequest(session, setup, sent);
      if (request === null) return null;
      const message = { id: sent.length, ...request };
      const answered = Promise.withResolvers<null>();
      onAnswer = () => answered.resolve(null);
      sent.push(requestName(request.method, request.params));
      session = foldAgent(session, { from: 'svc', message });
      write(message);
      const failure = await within(
        Promise.race([answered.promise, failed.promise]),
        answerMs,
        () => `did not answer ${request.method} within ${answerMs / 1000} s`,
      );
      if (failure !== null) return failure;
    }
    return null;
  }

  try {
    const failure = await ask();
    if (session.reportsLogin && session.sessionId !== null)
      await within(Promise.race([reported.promise, failed.promise]), LOGIN_MS, () => undefined);
    return { session, failure };
  } finally {
    signal?.removeEventListener('abort', interrupt);
    if (child.pid !== undefined) await endGroup(child.pid, GRACE_MS);
  }
}
