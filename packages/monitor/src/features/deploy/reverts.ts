// Whether commits after a merge say that they revert it. Git and the code host write "This reverts commit <id>" into the
// message; a revert that is itself reverted counts for nothing.

export type CommitMessage = { sha: string; message: string };

const reverts = /\bThis reverts commit ([0-9a-f]{7,64})\b/gi;

export function isReverted(sha: string, later: readonly CommitMessage[]): boolean {
  const revertersOf = new Map<string, CommitMessage[]>();
  for (const commit of later)
    for (const [, reverted = ''] of commit.message.matchAll(reverts)) {
      const known = [sha, ...later.map((one) => one.sha)].find((id) => id.startsWith(reverted.toLowerCase()));
      if (known === undefined || known === commit.sha) continue;
      revertersOf.set(known, [...(revertersOf.get(known) ?? []), commit]);
    }
  const seen = new Set<string>();
  const isUndone = (id: string): boolean => {
    if (seen.has(id)) return false;
    seen.add(id);
    return (revertersOf.get(id) ?? []).some((reverter) => !isUndone(reverter.sha));
  };
  return isUndone(sha);
}
