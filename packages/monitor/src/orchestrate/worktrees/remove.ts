// Removes a worktree. First the findings that wait in it are filed, where the project has consent. Then it is proved
// what would be lost; without `force` anything at all is a refusal. Then the
// teardown hooks run, a bundle is kept, and only then something goes. A worktree that was never finished, or whose
// removal was cut off, needs no force: it was handed to nobody, and the bundle is kept all the same.
import { relative } from 'node:path';
import type { EventDraft } from '@svc/core';
import { Failure } from '../../errors.ts';
import {
  keepBundle,
  pruneKept,
  pruneKeptRefs,
  pruneLogs,
  restoreCommands,
  shellQuoted,
  tipsOf,
} from './bundle.ts';
import { LONG_MS } from './git.ts';
import { hookSteps } from './hooks.ts';
import { isLost, type Losses } from './inspect.ts';
import { lookForRemoval, lossesOf, recordOf, type State } from './look.ts';
import { lossWords } from './loss-words.ts';
import {
  findWorktree,
  forgetLog,
  holdName,
  logFile,
  projectIn,
  type Room,
  rememberStep,
  variablesOf,
} from './room.ts';
import { runSteps, type Tell } from './run-steps.ts';
import { snapshotOf } from './snapshot.ts';
import { stepEnvironment } from './step-environment.ts';
import { openStepLog } from './step-log.ts';
import { takeDown } from './take-down.ts';

export type RemoveOptions = {
  force?: boolean | undefined;
  /** Where the person stands: not there. */
  currentFolder?: string | undefined;
  /** Whose worktree it is: stands in the lines about findings that are filed. */
  scope?: EventDraft['scope'] | undefined;
  tell?: Tell | undefined;
  signal?: AbortSignal | undefined;
};

export type RemovedWorktree = {
  name: string;
  path: string;
  branch: string | null;
  branchRemoved: boolean;
  /** The bundle, for 30 days; null when there was no commit to keep. */
  kept: string | null;
  /** Commands that bring back what is in it. */
  restore: string[];
  losses: Losses;
};

export async function removeWorktree(
  room: Room,
  text: string,
  options: RemoveOptions,
): Promise<RemovedWorktree> {
  const { name } = await findWorktree(room, text);
  const hold = await holdName(room, name);
  if (hold === undefined)
    throw new Failure('busy', `Another create or remove of ${name} is under way.`, 'See: svc worktree list');
  try {
    const tell = options.tell ?? (() => undefined);
    const state = await lookForRemoval(room, name, options.currentFolder);
    if (state.folder !== null && !state.unfinished)
      await fileFindings(room, state.folder, { ...options, tell });
    let losses = await refuseLosses(room, state, options);
    if (state.folder !== null && !state.unfinished && (await tearDown(room, state, { ...options, tell })))
      losses = await refuseLosses(room, state, options);
    const { kept, tips } = await keep(room, state, losses);
    await room.records.write({ ...recordOf(room, state), state: 'removing', step: null });
    await removeByGit(room, state, options);
    const made = state.record?.madeBranch === true ? state.record.branch : undefined;
    const at = tips.find(({ ref }) => ref === `refs/heads/${made}`)?.sha;
    const { branchRemoved, warnings } = await takeDown(room, {
      name,
      path: state.path,
      branch: made !== undefined && at !== undefined ? { name: made, at } : undefined,
    });
    for (const message of warnings) tell({ kind: 'warning', message });
    await forgetLog(room.place, name);
    await prune(room);
    return {
      name,
      path: state.path,
      branch: state.branches[0] ?? null,
      branchRemoved,
      kept: kept?.file ?? null,
      restore: kept === undefined ? [] : restoreCommands(kept, branchRemoved),
      losses,
    };
  } finally {
    hold.release();
  }
}

async function fileFindings(
  room: Room,
  worktree: string,
  { scope = {}, signal, tell }: RemoveOptions & { tell: Tell },
): Promise<void> {
  const { filed, left, why } = await room.findings.file({
    project: projectIn(room, worktree),
    scope,
    signal: signal ?? new AbortController().signal,
  });
  if (filed > 0) tell({ kind: 'output', line: `findings filed: ${filed}` });
  if (left > 0) tell({ kind: 'warning', message: `findings not filed: ${left}, because ${why}` });
}

/** Git looks once more itself: what came since the last look is not removed without force. */
async function removeByGit(room: Room, state: State, options: RemoveOptions): Promise<void> {
  if (options.force === true || state.unfinished || state.folder === null) return;
  const remove = ['worktree', 'remove', '--', state.path];
  if ((await room.git.ask(room.place.main, remove, { timeoutMs: LONG_MS })).exitCode === 0) return;
  try {
    await refuseLosses(room, state, options);
  } catch (error) {
    if (state.record === undefined) await room.records.forget(state.name);
    else await room.records.write(state.record);
    throw error;
  }
}

async function refuseLosses(room: Room, state: State, { force }: RemoveOptions): Promise<Losses> {
  const losses = await lossesOf(room, state);
  if (force === true || state.unfinished || !isLost(losses)) return losses;
  const drain = `File the findings: cd ${shellQuoted(projectIn(room, state.path))} && svc findings drain`;
  const isWork = isLost({ ...losses, findings: { count: 0, titles: [] } });
  const first = [...(losses.findings.count > 0 ? [drain] : []), ...(isWork ? ['Commit and push'] : [])];
  throw new Failure(
    'not-allowed-now',
    [`${state.name} is not removed; with it would go:`, ...lossWords(losses)].join('\n'),
    `${first.join('\n')}, or remove it all the same: svc worktree remove ${state.name} --force (a bundle is kept for 30 days)`,
  );
}

/** True when hooks ran: they may have changed something. */
async function tearDown(room: Room, state: State, options: RemoveOptions & { tell: Tell }): Promise<boolean> {
  const variables = await variablesOf(room, state.path, recordOf(room, state).branch);
  const steps = hookSteps(room.config, 'teardown', variables);
  if (steps.length === 0) return false;
  const log = await openStepLog({ file: logFile(room.place, state.name), append: true });
  try {
    await runSteps(steps, {
      folder: state.path,
      environment: stepEnvironment(room.environment, room.config, variables),
      timeoutMs: room.stepTimeoutMs,
      log,
      now: room.now,
      signal: options.signal,
      tell: options.tell,
      onStart: async (pid) => {
        if (state.record !== undefined) await rememberStep(room, state.record, pid);
      },
    });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (options.force !== true || options.signal?.aborted)
      throw new Failure(error.code, `${error.message}\n${state.name} is not removed.`, error.remedy, {
        cause: error,
      });
    options.tell({ kind: 'warning', message: error.message });
  } finally {
    await log.close();
  }
  return true;
}

async function keep(room: Room, state: State, losses: Losses) {
  const { git, place } = room;
  const tips = await tipsOf(git, place.main, state.branches, state.entry?.head ?? null);
  if (losses.submodules.length > 0)
    throw new Failure(
      'not-allowed-now',
      `${state.name} has submodules with changes that cannot be kept: ${losses.submodules.join(', ')}.`,
      'Commit and push them in the submodule, or take them back; then remove the worktree.',
    );
  if (tips.length === 0) return { kept: undefined, tips };
  const head = state.entry?.head ?? null;
  const isDirty =
    losses.uncommitted.count + losses.findings.count > 0 && state.folder !== null && head !== null;
  const snapshot = isDirty
    ? await snapshotOf({
        git,
        worktree: state.path,
        head,
        alsoIgnored:
          losses.findings.count > 0
            ? [relative(state.path, room.findings.folder(projectIn(room, state.path)))]
            : [],
        temporaryIndex: `${place.base}/.index-${crypto.randomUUID()}`,
      })
    : undefined;
  const kept = await keepBundle({
    git,
    main: place.main,
    baseFolder: place.base,
    name: state.name,
    baseBranch: state.base,
    tips,
    loose: [
      ...(snapshot === undefined ? [] : [{ what: 'uncommitted' as const, sha: snapshot }]),
      ...losses.stashes.map(({ sha }) => ({ what: 'stash' as const, sha })),
    ],
    now: room.now(),
  });
  return { kept, tips };
}

async function prune({ git, place, records, now }: Room): Promise<void> {
  await pruneKept(place.base, now());
  await pruneKeptRefs(git, place.main, now());
  const inUse = new Set((await records.names()).map((name) => `${name}.log`));
  await pruneLogs(`${place.base}/.logs`, inUse, now());
}
