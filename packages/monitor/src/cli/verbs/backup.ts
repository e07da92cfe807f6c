// svc backup create | restore
import { join, resolve } from 'node:path';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { BackupManifest } from '@svc/core';
import { rootFrom } from '../../archive/open-archive.ts';
import { loadProjects } from '../../config/projects.ts';
import { ownVersion } from '../../daemon/version-drift.ts';
import { createBackup } from '../backup/create.ts';
import { backupPlaces } from '../backup/places.ts';
import { restoreBackup } from '../backup/restore.ts';
import { counted } from '../counted.ts';
import { plainText } from '../plain-text.ts';
import { openSession } from '../session.ts';
import { printJson, type Terminal } from '../terminal.ts';
import { verb, verbGroup } from '../verb.ts';
import { VERSION } from '../version.ts';

const DEFAULT_ARCHIVE = '~/svc/archives';
const SHOWN = 20;

export function backupVerbs(terminal: Terminal): CommandUnknownOpts {
  return verbGroup(
    'backup',
    {
      summary: 'Everything svc knows in one file, and back; how to move house: docs/moving.md',
      example: 'svc backup create',
    },
    [createVerb(terminal), restoreVerb(terminal)],
  );
}

function createVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('create', {
    summary: 'Write configuration, event log, runs, archive and database into one file; the daemon may run',
    example: ['svc backup create', 'svc backup create --to /mnt/usb/svc.tar.gz --with-secrets'],
  })
    .option('--to <file>', 'the file to make (default: svc-backup-<time>.tar.gz here)')
    .option('--with-secrets', 'tokens and webhook secrets too')
    .option('--no-events', 'leave the event log out')
    .option('--json', 'print JSON')
    .action(async ({ to, withSecrets = false, events, json }) => {
      const { machine, locks } = openSession(terminal);
      const now = terminal.now();
      const { configs, folders } = await loadProjects(machine, terminal.environment, terminal.folder);
      const root = rootFrom(configs[0]?.archive.root ?? DEFAULT_ARCHIVE, machine.home);
      const stamp = now.toISOString().slice(0, 19).replaceAll(':', '-');
      const work = () =>
        createBackup({
          to: resolve(terminal.folder, to ?? `svc-backup-${stamp}.tar.gz`),
          places: backupPlaces(machine, root),
          withSecrets,
          withEvents: events,
          svcVersion: ownVersion(machine.versionFile, VERSION),
          projects: folders,
          now,
        });
      // A month that is compressed meanwhile would be in neither of its two files.
      const made = await locks.withLock(join(machine.eventsDir, 'compress'), work);
      const { file, bytes, manifest, skipped } = made;
      if (json)
        return printJson(terminal, {
          file,
          bytes,
          files: manifest.files.length,
          leftOut: manifest.leftOut,
          skipped,
        });
      terminal.out(`${counted(manifest.files.length, 'file')}, ${bytes} bytes: ${file}`);
      if (withSecrets)
        terminal.out('It holds secrets, and only its owner can read it (mode 600). Keep it so.');
      if (skipped.length > 0)
        terminal.err(
          `warning: left out for their names: ${skipped.slice(0, SHOWN).map(plainText).join(', ')}`,
        );
      sayLeftOut(terminal, manifest);
    });
}

function restoreVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('restore', {
    summary: 'Put a backup into its places; what is there is refused, or with --force renamed',
    example: ['svc backup restore svc-backup.tar.gz', 'svc backup restore svc-backup.tar.gz --force'],
  })
    .argument('<file>')
    .option('--force', 'set aside what is there, renamed; nothing is removed')
    .option('--json', 'print JSON')
    .action(async (file, { force = false, json }) => {
      const { machine } = openSession(terminal);
      const { manifest, places, aside } = await restoreBackup({
        file: resolve(terminal.folder, file),
        machine,
        archiveRootFrom: (configured) =>
          rootFrom(terminal.environment['SVC_ARCHIVE_ROOT'] ?? configured ?? DEFAULT_ARCHIVE, machine.home),
        force,
        now: terminal.now(),
      });
      const files = manifest.files.length;
      if (json)
        return printJson(terminal, {
          files,
          madeAt: manifest.madeAt,
          places,
          aside,
          leftOut: manifest.leftOut,
          projects: manifest.projects,
        });
      terminal.out(
        `${files} files of ${manifest.madeAt} (${plainText(manifest.hostName)}) are restored, every checksum right.`,
      );
      for (const path of aside) terminal.out(`Set aside: ${path}`);
      sayLeftOut(terminal, manifest);
      if (manifest.projects.length > 0)
        terminal.out(
          `Check these projects out where they were, or correct svc.projects: ${manifest.projects.map(plainText).join(', ')}`,
        );
      terminal.out('Then start the daemon and look: svc-monitor.sh start && svc doctor');
    });
}

function sayLeftOut(terminal: Terminal, { leftOut }: BackupManifest): void {
  if (leftOut.length === 0) return;
  terminal.out('Secrets that are not in it, to be set on the other machine:');
  for (const { file, key } of leftOut)
    terminal.out(`  ${plainText(file)}${key === '' ? '' : `  ${plainText(key)}`}`);
}
