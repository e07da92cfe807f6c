// The second agent of a verification: it may only read, in a worktree of the merged commit in which nothing is writable,
// and has to answer in time. A process of the same user can undo that, so the worktree is compared afterwards.
import { createHash, type Hash, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { endGroup } from '@svc/lib/end-group';
import { messageOf, systemErrorCode } from '@svc/lib/errors';
import { ifPresent } from '@svc/lib/files';
import { entriesIn, lstat, openFile, readdir, readlink, readText, stat } from '@svc/lib/paths';
import type { ReadProcessStarts } from '@svc/lib/system';
import { pause } from '@svc/lib/timeout';
import { errorTail, inOneLine } from '../../agents/agent-output.ts';
import { type ChosenAgent, readOnlyAnswer } from '../../agents/choice.ts';
import { type AgentTalk, noImages, type QueuedMessage, talkToAgent } from '../../agents/io/agent-session.ts';
import { type AgentFiles, endAgent, launchAgent, readPidFile, wrotePidFile } from '../../agents/io/launch.ts';
import type { TurnEnd } from '../../agents/session.ts';
import { REFUTATION_REMINDER, type VerifierAnswer, verifierAnswerIn } from '../refutation.ts';
import type { AskGit } from './ask-git.ts';
import { stopped } from './run-tests.ts';

const LOOK_EVERY_MS = 100;
const GRACE_MS = 2_000;
/** More than any verdict needs. */
const MOST_BYTES = 64 * 1024 * 1024;
const MOST_REQUESTS = 1_000;
/** Some agents end their turn when a request is rejected. */
const MOST_REMINDERS = 3;

type VerifierFiles = Omit<AgentFiles, 'record' | 'ticket'>;

/** Beside the log of the tests. */
export function verifierFiles(log: string): VerifierFiles {
  const name = log.replace(/\.log$/, '.verifier');
  const journal = `${name}.journal.jsonl`;
  return {
    pidFile: `${name}.pid`,
    output: journal,
    errors: `${name}.stderr.log`,
    sent: `${name}.sent.jsonl`,
    journal,
  };
}

type Answered = VerifierAnswer | { problem: string };

/** Its answer, or why there is none. It has ended, with everything that it started. */
export async function askVerifier(given: {
  agent: Extract<ChosenAgent, { protocol: true }>;
  environment: Readonly<Record<string, string>>;
  worktree: string;
  prompt: string;
  files: VerifierFiles;
  timeoutMs: number;
  processStarts: ReadProcessStarts;
  /** Records its process, so it can be ended if this process is killed first. */
  remember: (pid: number) => Promise<void>;
  signal?: AbortSignal | undefined;
}): Promise<Answered> {
  const { agent, environment, worktree: cwd, files, processStarts } = given;
  const deadline = performance.now() + given.timeoutMs;
  await endEarlier(files, processStarts);
  const launch = await launchAgent({
    argv: agent.argv,
    cwd,
    environment: { ...environment, ...agent.env },
    files,
    isTalkedTo: true,
    processStarts,
  });
  if (launch.state === 'already-started') return { problem: 'another process has started it' };
  if (launch.state === 'failed') return { problem: launch.problem };
  const { pid, startedAt, ended } = launch.agent;
  let isStopped: Awaited<ReturnType<typeof endAgent>> = 'gone';
  let answered: Answered;
  try {
    await given.remember(pid);
    answered = await converse({ ...given, deadline, ended });
  } finally {
    // Without a start time it had ended before it was looked at.
    if (startedAt !== null) isStopped = await endAgent({ pid, startedAt, processStarts, graceMs: GRACE_MS });
  }
  return isStopped === 'still-there' ? { problem: `its process ${pid} could not be ended` } : answered;
}

/** What a killed daemon left: its agent is ended, and its conversation is not continued. */
async function endEarlier(files: VerifierFiles, processStarts: ReadProcessStarts): Promise<void> {
  const earlier = await readPidFile(files.pidFile);
  if (earlier !== null && earlier.pid !== null) {
    const start = (await processStarts([earlier.pid])).get(earlier.pid);
    if (start?.state === 'running' && wrotePidFile(start, earlier)) await endGroup(earlier.pid, GRACE_MS);
  }
  for (const path of [...Object.values(files), `${files.pidFile}.in`]) await rm(path, { force: true });
  await mkdir(dirname(files.sent), { recursive: true, mode: 0o700 });
  const created = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
  await (await openFile(files.sent, { flags: created, mode: 0o600 })).close();
}

type Talked = Parameters<typeof askVerifier>[0] & {
  deadline: number;
  ended: Promise<{ known: boolean; exitCode?: number | null; signal?: string | null }>;
};

async function converse(given: Talked): Promise<Answered> {
  const { agent, worktree: cwd, prompt, files, signal } = given;
  const reminders: QueuedMessage[] = [];
  let message = '';
  let firstProblem: string | undefined;
  /** Why its answer does not count. The first is shown. */
  const failures: string[] = [];
  let trouble = '';
  let exit: { exitCode: number | null; signal: string | null } | undefined;
  const noteEnd = async (): Promise<void> => {
    const how = await given.ended;
    exit = { exitCode: how.exitCode ?? null, signal: how.signal ?? null };
  };
  void noteEnd();
  const talk = await talkToAgent({
    files,
    setup: {
      cwd,
      resume: null,
      mode: agent.mode,
      model: agent.model,
      ticket: null,
      prompt,
      continuation: null,
    },
    messages: () => reminders,
    readImages: async () => noImages,
    onEntry(_, { before, after }) {
      if (before.mode === agent.mode && after.mode !== agent.mode)
        failures.push(`it left the permission mode ${agent.mode}`);
      // What it writes after its turn is not its answer.
      const isInTurn = after.turns === reminders.length;
      if (isInTurn && after.message?.kind === 'message') message = after.message.text;
    },
    // It is tried again until the deadline.
    onProblem(error) {
      trouble = ` (${messageOf(error)})`;
    },
  });
  try {
    for (;;) {
      if (signal?.aborted === true) throw stopped();
      if (exit !== undefined) await talk.end(exit);
      const { lastTurn, turns } = talk.session();
      if (failures.length === 0 && lastTurn !== null && turns > reminders.length) {
        const answer = answerOf(lastTurn, message);
        if (!('problem' in answer)) return answer;
        firstProblem ??= answer.problem;
        const isOver = !lastTurn.ok || exit !== undefined || reminders.length === MOST_REMINDERS;
        if (isOver) return { problem: firstProblem };
        message = '';
        reminders.push({ key: `reminder-${turns}`, text: REFUTATION_REMINDER, by: 'svc' });
        await talk.goOn();
      }
      failures.push(...(await problemsOf(talk, given)));
      if (failures.length === 0 && exit !== undefined) failures.push(await endWords(files, exit.exitCode));
      if (failures.length === 0 && performance.now() > given.deadline)
        failures.push(`it did not answer within ${given.timeoutMs / 1_000} s${trouble}`);
      const [problem] = failures;
      if (problem !== undefined) return { problem };
      for (const request of talk.session().open)
        await talk.answer({ request: request.request, answer: readOnlyAnswer(request, cwd), by: 'svc' });
      await pause(LOOK_EVERY_MS, signal ?? never);
    }
  } finally {
    await talk.stop();
  }
}

const never = new AbortController().signal;

function answerOf({ ok, reason }: TurnEnd, message: string): Answered {
  if (!ok) return { problem: `it failed: ${reason}` };
  if (reason !== 'end_turn') return { problem: `it did not finish: ${reason}` };
  return message === '' ? { problem: 'it ended its turn without an answer' } : verifierAnswerIn(message);
}

async function problemsOf(talk: AgentTalk, { files }: Talked): Promise<string[]> {
  const start = talk.startProblem();
  if (start !== null) return [`it cannot be used: ${start}`];
  if (talk.session().requests > MOST_REQUESTS) return [`it made more than ${MOST_REQUESTS} requests`];
  const [journal, errors] = await Promise.all(
    [files.journal, files.errors].map((path) => ifPresent(stat(path))),
  );
  if (journal === undefined || errors === undefined || talk.changedFile() !== null)
    return ['the record of what it wrote was changed'];
  return journal.size + errors.size > MOST_BYTES ? [`it wrote more than ${MOST_BYTES} bytes`] : [];
}

async function endWords({ errors }: VerifierFiles, exitCode: number | null | undefined): Promise<string> {
  const printed = inOneLine(errorTail((await ifPresent(readText(errors))) ?? ''));
  return `it ended before it answered (exit code ${exitCode ?? 'unknown'})${printed === '' ? '' : `: ${printed}`}`;
}

/** Takes the permission to write from every file and folder. Links are left alone. */
export async function makeReadOnly(folder: string): Promise<void> {
  for (const entry of await entriesIn(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await makeReadOnly(path);
    else if (entry.isFile()) await withoutWriting(path);
  }
  await withoutWriting(folder);
}

async function withoutWriting(path: string): Promise<void> {
  await chmod(path, (await lstat(path)).mode & 0o555);
}

/**
 * A text that changes when anything in the worktree, its index or its commit does. If the worktree cannot be read, it
 * is a different one each time: it must not count as unchanged.
 */
export async function stateOfWorktree(git: AskGit, worktree: string): Promise<string> {
  const hash = createHash('sha256');
  try {
    await addFolder(hash, worktree, '');
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === undefined) throw error;
    return `cannot be read: ${code} ${randomUUID()}`;
  }
  // After the files: git does not look at settings that an agent has put into them.
  const asked = [
    ['rev-parse', 'HEAD'],
    ['status', '--porcelain', '--ignored', '--untracked-files=all', '--ignore-submodules=dirty'],
  ];
  const replies = [];
  for (const args of asked) replies.push(await git(worktree, args, { isWorktree: true, ownFilters: true }));
  return JSON.stringify([hash.digest('hex'), ...replies]);
}

async function addFolder(hash: Hash, folder: string, name: string): Promise<void> {
  for (const entry of (await readdir(folder)).toSorted()) {
    const path = join(folder, entry);
    const stats = await lstat(path);
    const kind = stats.isDirectory()
      ? 'folder'
      : stats.isFile()
        ? 'file'
        : stats.isSymbolicLink()
          ? 'link'
          : 'other';
    hash.update(`${kind} ${stats.mode & 0o777} ${stats.isFile() ? stats.size : 0} ${name}/${entry}\0`);
    if (kind === 'folder') await addFolder(hash, path, `${name}/${entry}`);
    if (kind === 'link') hash.update(`${await readlink(path)}\0`);
    if (kind !== 'file') continue;
    const file = await openFile(path, { links: 'keep' });
    for await (const chunk of file.createReadStream()) hash.update(chunk as Buffer);
  }
}
