// Mutations of the archive.
import type { Mutation } from '../mutation.ts';

export const archive: readonly Mutation[] = [
  {
    row: 'LIM-12',
    test: 'packages/monitor/src/cli/verbs/archive.test.ts › without retention.days and --older-than nothing is removed, and it says so',
    file: 'packages/core/src/archive/prune-rule.ts',
    find: "retentionDays === null ? 'never' : { ageMs: retentionDays * DAY_MS };",
    replace: '{ ageMs: (retentionDays ?? 0) * DAY_MS };',
    harm: 'Every archive is removed where nothing was to be.',
  },
  {
    row: 'ARC-7',
    test: 'packages/monitor/src/cli/verbs/archive.test.ts › sweeping again changes nothing, and tells nothing',
    file: 'packages/core/src/archive/manifest.ts',
    find: 'return JSON.stringify({ ...manifest, archivedAt: null });',
    replace: 'return JSON.stringify(manifest);',
    harm: 'An archive looks new after each sweep, and is never old enough to be pruned.',
  },
  {
    row: 'ARC-3',
    test: 'packages/monitor/src/cli/verbs/archive.test.ts › without syncToThoughts it does not',
    file: 'packages/monitor/src/cli/verbs/archive-sweep.ts',
    find: '...(settings.syncToThoughts && {',
    replace: '...(settings !== undefined && {',
    harm: 'Files appear in a repository whose owner did not ask for them.',
  },
  {
    row: 'CFG-80',
    test: 'packages/monitor/src/cli/verbs/archive.test.ts › with syncToThoughts the summary also goes to thoughts/shared/handoffs/',
    file: 'packages/monitor/src/archive/handoff.ts',
    find: 'handoffName(manifest.orchestrator, summary));',
    replace: "'summary.md');",
    harm: 'The summary of each run takes the place of the last.',
  },
];
