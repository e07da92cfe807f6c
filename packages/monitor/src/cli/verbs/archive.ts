// svc archive sweep | list | show | verify | restore | prune

import { resolve } from 'node:path';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { type ArchiveManifest, archiveSizes, pruneAge } from '@svc/core';
import { listRuns } from '../../archive/archive-index.ts';
import { copySummary } from '../../archive/handoff.ts';
import { pruneArchives } from '../../archive/prune.ts';
import { archivedManifest, restoreRun } from '../../archive/restore.ts';
import { type SweptRun, sweepRuns } from '../../archive/sweep.ts';
import { verifyArchives } from '../../archive/verify.ts';
import { Failure } from '../../errors.ts';
import {
  type ArchiveSession,
  bytesText,
  createProgress,
  runNameFrom,
  tellArchive,
  withArchive,
} from '../archive-session.ts';

import { AnswerIsNo, printJson, printTable, type Terminal } from '../terminal.ts';
import { counted, plainText, timeText, utcText } from '../text.ts';
import { verb, verbGroup } from '../verb.ts';

// svc archive sweep: what runs left behind goes into the archive; the runs' own files stay.

type Outcome = SweptRun['outcome'];

function sweepVerb(terminal: Terminal): CommandUnknownOpts {
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

// svc archive prune: archives that are old enough go.

const DAY_MS = 86_400_000;

function pruneVerb(terminal: Terminal): CommandUnknownOpts {
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

export function archiveVerbs(terminal: Terminal): CommandUnknownOpts {
  return verbGroup(
    'archive',
    {
      summary: 'What is left of finished runs: kept, checked, given back; with the daemon up or down',
      example: ['svc archive sweep', 'svc archive restore orch-2026-01-02 --to ./orch'],
    },
    [
      sweepVerb(terminal),
      listVerb(terminal),
      showVerb(terminal),
      verifyVerb(terminal),
      restoreVerb(terminal),
      pruneVerb(terminal),
    ],
  );
}

function listVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('list', {
    summary: 'The archived runs, from the index',
    example: ['svc archive list', 'svc archive list --json'],
  })
    .option('--json', 'print JSON')
    .action((options) =>
      withArchive(terminal, async ({ root, index }) => {
        const { runs, unindexed } = await listRuns({ root, index });
        if (unindexed > 0)
          terminal.err(
            `warning: the index does not know ${unindexed} of ${root}; mend it: svc archive sweep`,
          );
        if (options.json) return printJson(terminal, { root, runs });
        if (runs.length === 0) return terminal.out(`No run is archived in ${root}.`);
        printTable(
          terminal,
          runs.map(({ orchestrator, archivedAt, state, files, bytes, storedBytes }) => [
            orchestrator,
            utcText(archivedAt),
            state,
            `${files} files`,
            `${bytesText(bytes)} (${bytesText(storedBytes)} stored)`,
          ]),
        );
      }),
    );
}

function showVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('show', {
    summary: 'The files of an archived run',
    example: ['svc archive show orch-2026-01-02', 'svc archive show orch-2026-01-02 --json'],
  })
    .argument('<orchId>')
    .option('--json', 'print the manifest')
    .action((orchId, options) =>
      withArchive(terminal, async ({ root }) => {
        const manifest = await archivedManifest(root, runNameFrom(orchId));
        if (options.json) return printJson(terminal, manifest);
        const { bytes, storedBytes } = archiveSizes(manifest.files);
        terminal.out(
          `${manifest.orchestrator}  ${manifest.state}  archived ${timeText(manifest.archivedAt, terminal.now())}`,
        );
        terminal.out(
          `${counted(manifest.files.length, 'file')}, ${bytesText(bytes)} (${bytesText(storedBytes)} stored)`,
        );
        printTable(
          terminal,
          manifest.files.map(({ path, size, sha256, mtime }) => [
            sha256.slice(0, 12),
            bytesText(size),
            utcText(mtime),
            plainText(path),
          ]),
        );
        for (const { path, reason } of manifest.skipped)
          terminal.out(`left out: ${plainText(path)} ${reason}`);
      }),
    );
}

function verifyVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('verify', {
    summary: 'Read every archived file and compare it with manifest and index; exit 1 when one differs',
    example: ['svc archive verify', 'svc archive verify orch-2026-01-02'],
  })
    .argument('[orchId]')
    .option('--json', 'print JSON')
    .action((orchId, options) =>
      withArchive(terminal, async ({ root, index, locks }) => {
        const progress = createProgress({ terminal, stream: process.stderr, verb: 'Verifying' });
        const only = orchId === undefined ? undefined : runNameFrom(orchId);
        const signal = terminal.interrupted;
        const result = await verifyArchives({
          root,
          index,
          locks,
          only,
          signal,
          onProgress: progress.show,
        }).finally(progress.end);
        const { runs, files, bytes, problems } = result;
        if (options.json) printJson(terminal, { root, ...result });
        else {
          for (const { orchestrator, what } of problems) terminal.out(`${orchestrator}: ${plainText(what)}`);
          const end =
            problems.length === 0 ? 'all as they were archived' : counted(problems.length, 'problem');
          terminal.out(`${counted(runs, 'run')}, ${counted(files, 'file')}, ${bytesText(bytes)}: ${end}.`);
        }
        if (problems.length === 0) return;
        terminal.err(
          "Where a run's own files are still there, its archive is mended by: svc archive sweep <orchId>",
        );
        throw new AnswerIsNo();
      }),
    );
}

function restoreVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('restore', {
    summary: 'Give an archived run back, byte for byte, into a new folder',
    example: 'svc archive restore orch-2026-01-02 --to ./orch-2026-01-02',
    route: 'POST /api/events',
  })
    .argument('<orchId>')
    .requiredOption('--to <folder>', 'not there yet, or empty')
    .action((orchId, options) =>
      withArchive(terminal, async ({ root, locks, report }) => {
        const orchestrator = runNameFrom(orchId);
        const to = resolve(terminal.folder, options.to);
        const progress = createProgress({ terminal, stream: process.stderr, verb: 'Restoring' });
        const onBytes = (bytes: number): void => progress.show({ orchestrator, run: 1, runs: 1, bytes });
        const { files } = await restoreRun({ root, orchestrator, to, locks, onBytes }).finally(progress.end);
        const { bytes } = archiveSizes(files);
        await tellArchive(report, 'archive.restored', [{ orchestrator, files: files.length, bytes }], {
          path: to,
        });
        terminal.out(
          `${orchestrator}: ${counted(files.length, 'file')}, ${bytesText(bytes)} restored to ${to}`,
        );
      }),
    );
}
