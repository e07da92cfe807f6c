// Verifies the merge of a worker in its project. What could not be verified is a failure here: it is worth another try.
import type { Act, Worker } from '@svc/core';
import { Failure } from '../../errors.ts';
import type { RunProject } from './run-project.ts';

export async function verifyMerge(
  { folder, verifier, worktrees }: RunProject,
  { orchestrator, ticket, mergeSha }: Extract<Act, { kind: 'start-verification' }>,
  worker: Worker | undefined,
  signal: AbortSignal,
): Promise<void> {
  const verified = await verifier.verify({
    orchestrator,
    ticket,
    repoFolder: folder,
    mergeSha,
    worktreeBase: await worktrees.base(),
    repo: worker?.repo ?? undefined,
    pr: worker?.pr?.number,
    signal,
  });
  if (!verified.ok) throw new Failure('file-unusable', verified.reason, verified.remedy);
}
