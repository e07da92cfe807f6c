// svc archive sweep: what runs left behind goes into the archive; the runs' own files stay.
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { ArchiveManifest } from '@svc/core';
import { copySummary } from '../../archive/handoff.ts';
import { type SweptRun, sweepRuns } from '../../archive/sweep.ts';
import { bytesText, createProgress } from '../archive-progress.ts';
import { type ArchiveSession, runNameFrom, tellArchive, withArchive } from '../archive-session.ts';
import { AnswerIsNo } from '../endings.ts';
import { plainText } from '../plain-text.ts';
import { printJson, type Terminal } from '../terminal.ts';
import { verb } from '../verb.ts';

type Outcome = SweptRun['outcome'];

export function sweepVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('sweep', {
    summary: 'Archive runs that have ended, or the one named; removes nothing of theirs',
    example: ['svc archive sweep', 'svc archive sweep orch-2026-01-02', 'svc archive sweep --dry-run'],
    route: 'POST /api/events',
  })
    .argument('[orchId]', 'this run, ended or not, read anew to the last byte')
    .option('--dry-run', 'say what would be archived')
    .option('--json', 'print JSON')
    .action((orchId, options) =>
      withArchive(terminal, async (archive) => {
        const { root, index, locks, machine, settings } = archive;
        const dryRun = options.dryRun === true;
        const progress = createProgress({ terminal, stream: process.stderr, verb: 'Sweeping' });
        const runs = await sweepRuns({
          root,
          index,
          locks,
          runsDir: machine.runsDir,
          commsDir: machine.commsDir,
          eventsDir: machine.eventsDir,
          only: orchId === undefined ? undefined : runNameFrom(orchId),
          dryRun,
          now: () => terminal.now().getTime(),
          signal: terminal.interrupted,
          onProgress: progress.show,
          ...(settings.syncToThoughts && { onArchived: summaryCopier(terminal, archive) }),
        }).finally(progress.end);
        const done = runs.filter(({ outcome }) => outcome === 'new' || outcome === 'updated');
        if (!dryRun) await tellArchive(archive.report, 'archive.swept', done, { path: root });
        if (options.json) printJson(terminal, { root, dryRun, runs });
        else print(terminal, runs, { dryRun, isNamed: orchId !== undefined });
        if (runs.some(({ outcome }) => outcome === 'failed')) throw new AnswerIsNo();
      }),
    );
}

function summaryCopier(terminal: Terminal, { root, project }: ArchiveSession) {
  return async (manifest: ArchiveManifest): Promise<void> => {
    const handoff = await copySummary({ root, manifest, project });
    if (handoff.state === 'not-written')
      terminal.err(`warning: the summary of ${manifest.orchestrator} was not copied: ${handoff.reason}.`);
  };
}

function print(
  terminal: Terminal,
  runs: readonly SweptRun[],
  how: { dryRun: boolean; isNamed: boolean },
): void {
  const words: Record<Outcome, string> = how.dryRun
    ? { new: 'would be archived', updated: 'would be updated', ...others }
    : { new: 'archived', updated: 'updated', ...others };
  for (const { orchestrator, outcome, reason, files, bytes, skipped } of runs) {
    if (outcome === 'unchanged' && !how.isNamed) continue;
    if (outcome === 'failed')
      terminal.err(`${orchestrator}: could not be archived: ${plainText(reason ?? '')}`);
    else if (outcome === 'waiting') terminal.out(`${orchestrator}: left for later: ${reason}`);
    else terminal.out(`${orchestrator}: ${words[outcome]}: ${files} files, ${bytesText(bytes)}`);
    for (const { path, reason: why } of skipped)
      terminal.err(`${orchestrator}: left out: ${plainText(path)} ${plainText(why)}`);
  }
  terminal.out(ended(runs, how.dryRun));
}

const others = { unchanged: 'unchanged', waiting: 'left for later', failed: 'failed' };

function ended(runs: readonly SweptRun[], dryRun: boolean): string {
  const count = (wanted: Outcome): number => runs.filter(({ outcome }) => outcome === wanted).length;
  const sum = (of: (run: SweptRun) => number): number => runs.reduce((total, run) => total + of(run), 0);
  const parts = [
    `${count('new')} archived`,
    `${count('updated')} updated`,
    `${count('unchanged')} unchanged`,
  ];
  if (count('waiting') > 0) parts.push(`${count('waiting')} left for later`);
  if (count('failed') > 0) parts.push(`${count('failed')} failed`);
  const sizes = dryRun ? bytesText(sum((run) => run.bytes)) : sizesText(sum);
  return `${dryRun ? 'Nothing was written. It would be: ' : ''}${parts.join(', ')}; ${sizes}.`;
}

function sizesText(sum: (of: (run: SweptRun) => number) => number): string {
  return `${bytesText(sum(({ bytes }) => bytes))} (${bytesText(sum(({ storedBytes }) => storedBytes))} stored)`;
}
