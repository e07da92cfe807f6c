// svc archive compress-log: old months of the event log take less room, and stay readable.
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { durationMs } from '@svc/core';
import { compressLog } from '../../archive/compress-log.ts';
import { Failure } from '../../errors.ts';
import { bytesText } from '../archive-progress.ts';
import { withArchive } from '../archive-session.ts';
import { printJson, type Terminal } from '../terminal.ts';
import { verb } from '../verb.ts';

export function compressLogVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('compress-log', {
    summary: 'Compress old months of the event log in place; every reader goes on reading them',
    example: ['svc archive compress-log', 'svc archive compress-log --older-than 26w --dry-run'],
  })
    .option('--older-than <age>', 'months that ended so long ago', '90d')
    .option('--dry-run', 'say which months would be compressed')
    .option('--json', 'print JSON')
    .action((options) =>
      withArchive(terminal, async ({ machine: { eventsDir }, locks }) => {
        const ageMs = durationMs(options.olderThan);
        if (ageMs === undefined)
          throw new Failure(
            'usage',
            `--older-than: expected an age such as 90d, found ${options.olderThan}.`,
          );
        const dryRun = options.dryRun === true;
        const now = (): number => terminal.now().getTime();
        const months = await compressLog({
          eventsDir,
          locks,
          ageMs,
          dryRun,
          now,
          signal: terminal.interrupted,
        });
        if (options.json) return printJson(terminal, { eventsDir, dryRun, months });
        for (const { file, bytes, storedBytes } of months)
          terminal.out(dryRun ? file : `${file}: ${bytesText(bytes)}, now ${bytesText(storedBytes)}`);
        terminal.out(`${months.length} months ${dryRun ? 'would be compressed' : 'compressed'}.`);
      }),
    );
}
