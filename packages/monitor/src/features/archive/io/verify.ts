// Verifies that index, manifests and blobs agree, byte for byte.
import { join } from 'node:path';
import { readdir } from '@svc/lib/paths';
import type { FileLocks } from '../../../kernel/disk/lock.ts';
import { Failure } from '../../../kernel/failure.ts';
import type { ArchivedFile } from '../manifest.ts';
import { type ArchiveIndex, type IndexedFile, listArchives } from './archive-index.ts';
import { createBlobFolder } from './blobs.ts';
import { MANIFEST_NAME, readManifest } from './manifest-file.ts';

type ArchiveProblem = { orchestrator: string; what: string };
export type Verification = { runs: number; files: number; bytes: number; problems: ArchiveProblem[] };

export type VerifyOptions = {
  root: string;
  index: ArchiveIndex;
  locks: FileLocks;
  only?: string | undefined;
  signal?: AbortSignal;
  onProgress?: (progress: { orchestrator: string; run: number; runs: number; bytes: number }) => void;
};

export async function verifyArchives(options: VerifyOptions): Promise<Verification> {
  return options.locks.withLock(options.root, () => verifyAll(options));
}

async function verifyAll({ root, index, only, signal, onProgress }: VerifyOptions): Promise<Verification> {
  const folders = new Set(await listArchives(root));
  const indexed = new Set(
    index.runs().flatMap(({ orchestrator, prunedAt }) => (prunedAt === null ? [orchestrator] : [])),
  );
  const all = [...new Set([...folders, ...indexed])].toSorted();
  const wanted = only === undefined ? all : all.filter((name) => name === only);
  if (only !== undefined && wanted.length === 0)
    throw new Failure('unknown-run', `There is no archive of ${only}.`, 'See: svc archive list');
  const result: Verification = { runs: 0, files: 0, bytes: 0, problems: [] };
  for (const [number, orchestrator] of wanted.entries()) {
    if (signal?.aborted === true) break;
    const report = { orchestrator, run: number + 1, runs: wanted.length };
    const note = (what: string): void => void result.problems.push({ orchestrator, what });
    const onFile = ({ size }: ArchivedFile): void => {
      result.files += 1;
      result.bytes += size;
      onProgress?.({ ...report, bytes: size });
    };
    result.runs += 1;
    if (!folders.has(orchestrator)) note('its folder is missing');
    else await verifyOne({ root, index, orchestrator, isIndexed: indexed.has(orchestrator), note, onFile });
  }
  return result;
}

async function verifyOne({
  root,
  index,
  orchestrator,
  isIndexed,
  note,
  onFile,
}: {
  root: string;
  index: ArchiveIndex;
  orchestrator: string;
  isIndexed: boolean;
  note: (what: string) => void;
  onFile: (file: ArchivedFile) => void;
}): Promise<void> {
  if (!isIndexed) note('is not in the index');
  const reading = await readManifest(root, orchestrator);
  if (reading.state === 'missing') return note(`${MANIFEST_NAME} is missing: its sweep was interrupted`);
  if (reading.state === 'damaged') return note(`${MANIFEST_NAME} ${reading.problem}`);
  const { manifest, sha256 } = reading;
  if (isIndexed && index.run(orchestrator)?.manifestSha256 !== sha256)
    note(`${MANIFEST_NAME} does not match the index`);
  if (isIndexed) for (const what of differences(manifest.files, index.files(orchestrator))) note(what);
  const blobs = createBlobFolder(join(root, orchestrator));
  for (const file of manifest.files) {
    const state = await blobs.check(file);
    if (state !== 'ok') note(`${file.path} is ${state}`);
    onFile(file);
  }
  for (const name of await blobs.extra(manifest.files)) note(`blobs/${name} is extra`);
  for (const name of await readdir(join(root, orchestrator)))
    if (name !== MANIFEST_NAME && name !== 'blobs') note(`${name} is extra`);
}

function differences(files: readonly ArchivedFile[], rows: readonly IndexedFile[]): string[] {
  const indexed = new Map(rows.map((row) => [row.path, row]));
  const named = new Set(files.map(({ path }) => path));
  return [
    ...files.flatMap(({ path, size, sha256 }) => {
      const row = indexed.get(path);
      if (row === undefined) return [`${path} is missing in the index`];
      return row.size === size && row.sha256 === sha256 ? [] : [`${path} differs from the index`];
    }),
    ...rows.flatMap(({ path }) => (named.has(path) ? [] : [`${path} is extra in the index`])),
  ];
}
