// svc archive sweep | list | show | verify | restore | prune
import { resolve } from 'node:path';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { archiveSizes } from '@svc/core';
import { listRuns } from '../../archive/list-runs.ts';
import { archivedManifest, restoreRun } from '../../archive/restore.ts';
import { verifyArchives } from '../../archive/verify.ts';
import { bytesText, createProgress } from '../archive-progress.ts';
import { runNameFrom, tellArchive, withArchive } from '../archive-session.ts';
import { counted } from '../counted.ts';
import { AnswerIsNo } from '../endings.ts';
import { plainText } from '../plain-text.ts';
import { printJson, printTable, type Terminal } from '../terminal.ts';
import { timeText, utcText } from '../time-text.ts';
import { verb, verbGroup } from '../verb.ts';
import { pruneVerb } from './archive-prune.ts';
import { sweepVerb } from './archive-sweep.ts';

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
