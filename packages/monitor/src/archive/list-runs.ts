// The archived runs, from the index; and how many lie in the root that the index does not know.
import type { ArchivedRunState, ArchiveList } from '@svc/core';
import type { ArchiveIndex } from './archive-index.ts';
import { listArchives } from './mend.ts';

export async function listRuns({
  root,
  index,
  state,
  after,
  limit,
}: {
  root: string;
  index: Pick<ArchiveIndex, 'runs'>;
  state?: ArchivedRunState | undefined;
  /** The run to go on behind, by name. */
  after?: string | undefined;
  limit?: number | undefined;
}): Promise<ArchiveList> {
  const indexed = index.runs().filter(({ prunedAt }) => prunedAt === null);
  const known = new Set(indexed.map(({ orchestrator }) => orchestrator));
  const unindexed = (await listArchives(root)).filter((name) => !known.has(name)).length;
  const wanted = indexed.filter(
    (run) =>
      (state === undefined || run.state === state) && (after === undefined || run.orchestrator > after),
  );
  const page = limit === undefined ? wanted : wanted.slice(0, limit);
  const next = page.length < wanted.length ? (page.at(-1)?.orchestrator ?? null) : null;
  return {
    root,
    runs: page.map(({ orchestrator, archivedAt, state: is, files, bytes, storedBytes }) => ({
      orchestrator,
      archivedAt,
      state: is,
      files,
      bytes,
      storedBytes,
    })),
    next,
    unindexed,
  };
}
