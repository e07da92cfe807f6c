// svc archive prune: archives that are old enough go.
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { pruneAge } from '@svc/core';
import { pruneArchives } from '../../archive/prune.ts';
import { Failure } from '../../errors.ts';
import { bytesText, createProgress } from '../archive-progress.ts';
import { tellArchive, withArchive } from '../archive-session.ts';
import { printJson, type Terminal } from '../terminal.ts';
import { timeText } from '../time-text.ts';
import { verb } from '../verb.ts';

const DAY_MS = 86_400_000;

export function pruneVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('prune', {
    summary: 'Remove archives that have not changed for some time; never the run itself',
    example: ['svc archive prune --older-than 30d', 'svc archive prune --dry-run'],
    route: 'POST /api/events',
  })
    .option('--older-than <age>', 'such as 30d, 12h or 2w (default: archive.retention.days)')
    .option('--dry-run', 'say what would be removed')
    .option('--json', 'print JSON')
    .action((options) =>
      withArchive(terminal, async ({ root, index, locks, settings, report }) => {
        const age = pruneAge(options.olderThan, settings.retentionDays);
        if (age === 'unreadable')
          throw new Failure(
            'usage',
            `--older-than: expected an age such as 30d, found ${options.olderThan}.`,
          );
        const dryRun = options.dryRun === true;
        if (age === 'never') {
          if (options.json) return printJson(terminal, { root, dryRun, olderThanDays: null, runs: [] });
          return terminal.out(
            'Nothing is removed: archive.retention.days is null, which means never. Give an age: svc archive prune --older-than 30d',
          );
        }
        const { ageMs } = age;
        const progress = createProgress({ terminal, stream: process.stderr, verb: 'Pruning' });
        const now = (): number => terminal.now().getTime();
        const signal = terminal.interrupted;
        const runs = await pruneArchives({
          root,
          index,
          locks,
          ageMs,
          dryRun,
          now,
          signal,
          onProgress: progress.show,
        }).finally(progress.end);
        const olderThanDays = ageMs / DAY_MS;
        const told = runs.map(({ orchestrator, files, storedBytes: bytes }) => ({
          orchestrator,
          files,
          bytes,
        }));
        if (!dryRun) await tellArchive(report, 'archive.pruned', told, { path: root, olderThanDays });
        if (options.json) return printJson(terminal, { root, dryRun, olderThanDays, runs });
        for (const { orchestrator, archivedAt, storedBytes } of runs)
          terminal.out(
            `${orchestrator}: archived ${timeText(archivedAt, terminal.now())}, ${bytesText(storedBytes)}`,
          );
        const freed = bytesText(runs.reduce((sum, { storedBytes }) => sum + storedBytes, 0));
        terminal.out(`${runs.length} archives ${dryRun ? 'would be removed' : 'removed'}, ${freed}.`);
      }),
    );
}
