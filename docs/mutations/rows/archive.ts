// Mutations of the archive.
import type { Mutation } from '../mutation.ts';

export const archive: readonly Mutation[] = [
  {
    row: 'LIM-12',
    file: 'packages/core/src/archive/archive-rules.ts',
    find: "retentionDays === null ? 'never' : { ageMs: retentionDays * DAY_MS };",
    replace: '{ ageMs: (retentionDays ?? 0) * DAY_MS };',
  },
  {
    row: 'ARC-7',
    file: 'packages/core/src/archive/manifest.ts',
    find: 'return JSON.stringify({ ...manifest, archivedAt: null });',
    replace: 'return JSON.stringify(manifest);',
  },
  {
    row: 'ARC-3',
    test: 'packages/monitor/src/cli/verbs/archive.test.ts › without syncToThoughts it does not',
    file: 'packages/monitor/src/cli/verbs/archive.ts',
    find: '...(settings.syncToThoughts && {',
    replace: '...(settings !== undefined && {',
  },
  {
    row: 'CFG-80',
    test: 'packages/monitor/src/cli/verbs/archive.test.ts › with syncToThoughts the summary also goes to thoughts/shared/handoffs/',
    file: 'packages/monitor/src/archive/handoff.ts',
    find: 'handoffName(manifest.orchestrator, summary));',
    replace: "'summary.md');",
  },
];
