// svc archive sweep | list | show | verify | restore | prune
import { resolve } from 'node:path';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { AnswerIsNo, printJson, printTable, type Terminal } from '../../../cli/kit/terminal.ts';
import { counted, plainText, timeText, utcText } from '../../../cli/kit/text.ts';
import { verb, verbGroup } from '../../../cli/kit/verb.ts';
import { Failure } from '../../../kernel/failure.ts';
import { pruneAge } from '../archive-rules.ts';
import { listRuns } from '../io/archive-index.ts';
import { pruneArchives } from '../io/prune.ts';
import { archivedManifest, copySummary, restoreRun } from '../io/restore.ts';
import { type SweptRun, sweepRuns } from '../io/sweep.ts';
import { verifyArchives } from '../io/verify.ts';
import { type ArchiveManifest, archiveSizes } from '../manifest.ts';
import {
  type ArchiveSession,
  bytesText,
  createProgress,
  reportArchive,
  runNameFrom,
  withArchive,
} from './archive-session.ts';

// svc archive sweep: copies the files of ended runs to the archive; the originals stay.

type Outcome = SweptRun['outcome'];

function sweepVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('sweep', {
    summary: 'Archive ended runs, or one run; the originals stay',
    example: ['svc archive sweep', 'svc archive sweep orch-2026-01-02', 'svc archive sweep --dry-run'],
    route: 'POST /api/events',
  })
    .argument('[orchId]', 'archive this run again, even if it has not ended')
    .option('--dry-run', 'show what would be archived')
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
        if (!dryRun) await reportArchive(archive.report, 'archive.swept', done, { path: root });
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
    if (outcome === 'failed') terminal.err(`${orchestrator}: cannot be archived: ${plainText(reason ?? '')}`);
    else if (outcome === 'waiting') terminal.out(`${orchestrator}: postponed: ${reason}`);
    else terminal.out(`${orchestrator}: ${words[outcome]}: ${files} files, ${bytesText(bytes)}`);
    for (const { path, reason: why } of skipped)
      terminal.err(`${orchestrator}: skipped: ${plainText(path)} ${plainText(why)}`);
  }
  terminal.out(ended(runs, how.dryRun));
}

const others = { unchanged: 'unchanged', waiting: 'postponed', failed: 'failed' };

function ended(runs: readonly SweptRun[], dryRun: boolean): string {
  const count = (wanted: Outcome): number => runs.filter(({ outcome }) => outcome === wanted).length;
  const sum = (of: (run: SweptRun) => number): number => runs.reduce((total, run) => total + of(run), 0);
  const parts = [
    `${count('new')} archived`,
    `${count('updated')} updated`,
    `${count('unchanged')} unchanged`,
  ];
  if (count('waiting') > 0) parts.push(`${count('waiting')} postponed`);
  if (count('failed') > 0) parts.push(`${count('failed')} failed`);
  const sizes = dryRun ? bytesText(sum((run) => run.bytes)) : sizesText(sum);
  return `${dryRun ? 'Dry run, nothing was written: ' : ''}${parts.join(', ')}; ${sizes}.`;
}

function sizesText(sum: (of: (run: SweptRun) => number) => number): string {
  return `${bytesText(sum(({ bytes }) => bytes))} (${bytesText(sum(({ storedBytes }) => storedBytes))} stored)`;
}

// svc archive prune: removes old archives.

const DAY_MS = 86_400_000;

function pruneVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('prune', {
    summary: 'Remove old archives; never the run itself',
    details: 'An archive is old when it has not changed for the given time.',
    example: ['svc archive prune --older-than 30d', 'svc archive prune --dry-run'],
    route: 'POST /api/events',
  })
    .option('--older-than <age>', '30d, 12h or 2w (default: archive.retention.days)')
    .option('--dry-run', 'show what would be removed')
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
            'Nothing was removed: archive.retention.days is null (never). Give an age: svc archive prune --older-than 30d',
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
        const pruned = runs.map(({ orchestrator, files, storedBytes: bytes }) => ({
          orchestrator,
          files,
          bytes,
        }));
        if (!dryRun) await reportArchive(report, 'archive.pruned', pruned, { path: root, olderThanDays });
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
      summary: 'Archive, verify, restore and prune finished runs',
      details: 'The archive needs no daemon.',
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
    summary: 'List archived runs',
    example: ['svc archive list', 'svc archive list --json'],
  })
    .option('--json', 'print JSON')
    .action((options) =>
      withArchive(terminal, async ({ root, index }) => {
        const { runs, unindexed } = await listRuns({ root, index });
        if (unindexed > 0)
          terminal.err(
            `warning: ${unindexed} in ${root} are missing from the index. Add them: svc archive sweep`,
          );
        if (options.json) return printJson(terminal, { root, runs });
        if (runs.length === 0) return terminal.out(`No archived runs in ${root}.`);
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
    summary: 'List the files of an archived run',
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
          terminal.out(`skipped: ${plainText(path)} ${reason}`);
      }),
    );
}

function verifyVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('verify', {
    summary: 'Verify every archived file; exit 1 when one is damaged',
    details: 'Compares each file with the manifest and the index.',
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
          const end = problems.length === 0 ? 'all intact' : counted(problems.length, 'problem');
          terminal.out(`${counted(runs, 'run')}, ${counted(files, 'file')}, ${bytesText(bytes)}: ${end}.`);
        }
        if (problems.length === 0) return;
        terminal.err("Fix it where the run's own files still exist: svc archive sweep <orchId>");
        throw new AnswerIsNo();
      }),
    );
}

function restoreVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('restore', {
    summary: 'Restore an archived run, byte for byte, into a new folder',
    example: 'svc archive restore orch-2026-01-02 --to ./orch-2026-01-02',
    route: 'POST /api/events',
  })
    .argument('<orchId>')
    .requiredOption('--to <folder>', 'new or empty folder')
    .action((orchId, options) =>
      withArchive(terminal, async ({ root, locks, report }) => {
        const orchestrator = runNameFrom(orchId);
        const to = resolve(terminal.folder, options.to);
        const progress = createProgress({ terminal, stream: process.stderr, verb: 'Restoring' });
        const onBytes = (bytes: number): void => progress.show({ orchestrator, run: 1, runs: 1, bytes });
        const { files } = await restoreRun({ root, orchestrator, to, locks, onBytes }).finally(progress.end);
        const { bytes } = archiveSizes(files);
        await reportArchive(report, 'archive.restored', [{ orchestrator, files: files.length, bytes }], {
          path: to,
        });
        terminal.out(
          `${orchestrator}: ${counted(files.length, 'file')}, ${bytesText(bytes)} restored to ${to}`,
        );
      }),
    );
}
