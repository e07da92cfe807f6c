// Where a verification works and what it leaves: a throw-away worktree `<base>/.verify/<ticket>-<sha12>`, and
// `<runs folder>/<orchestrator>/verification/<ticket>-<sha12>.log` and `.json`.
import { mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { safeSegment } from '@svc/core';
import { Failure } from '../../errors.ts';

const commit = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const ticketName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,119}$/;
const SHORT_SHA = 12;

export type VerifyPlace = {
  name: string;
  /** The folder of all throw-away worktrees of the project, as it really is. */
  room: string;
  worktree: string;
  log: string;
  result: string;
};

export function checkNames({
  orchestrator,
  ticket,
  shas,
}: {
  orchestrator: string;
  ticket: string;
  shas: readonly string[];
}): void {
  if (!safeSegment(orchestrator) || !ticketName.test(ticket) || ticket.includes('..'))
    throw new Failure(
      'usage',
      `${JSON.stringify(`${orchestrator}/${ticket}`)} cannot be the name of a worker.`,
    );
  const wrong = shas.find((sha) => !commit.test(sha));
  if (wrong !== undefined)
    throw new Failure('usage', `${JSON.stringify(wrong.slice(0, 80))} is not a whole commit id.`);
}

/** Resolves links, so that what is made lies in the base folder and nowhere else. */
export async function findVerifyPlace(options: {
  worktreeBase: string;
  runsDir: string;
  orchestrator: string;
  ticket: string;
  sha: string;
}): Promise<VerifyPlace> {
  const { runsDir, orchestrator, ticket, sha } = options;
  await mkdir(options.worktreeBase, { recursive: true });
  const base = await realpath(options.worktreeBase);
  const room = join(base, '.verify');
  await mkdir(room, { recursive: true, mode: 0o700 });
  if ((await realpath(room)) !== room)
    throw new Failure('file-unusable', `${room} leads elsewhere.`, 'Remove it.');
  const name = `${ticket}-${sha.slice(0, SHORT_SHA)}`;
  const kept = join(runsDir, orchestrator, 'verification');
  return {
    name,
    room,
    worktree: join(room, name),
    log: join(kept, `${name}.log`),
    result: join(kept, `${name}.json`),
  };
}
