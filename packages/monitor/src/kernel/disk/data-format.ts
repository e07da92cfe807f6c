// The format of the data folder as a whole: one number in `format.json`. The tables of the database, manifests and lines
// have versions of their own.
import { join } from 'node:path';
import { ifPresentSync } from '@svc/lib/files';
import { readTextNow } from '@svc/lib/paths';
import { z } from 'zod';
import { Failure } from '../failure.ts';
import { writeFileAtomically } from './atomic-write.ts';

/** Raised by what concerns several of them, or files without a version. */
const FORMAT = 1;

const DataFormat = z.object({
  format: z.int().positive(),
  svc: z.string().describe('the version that wrote it'),
});

export function formatFile(dataDir: string): string {
  return join(dataDir, 'format.json');
}

export function readFormat(dataDir: string): z.infer<typeof DataFormat> | undefined {
  const text = ifPresentSync(() => readTextNow(formatFile(dataDir)));
  if (text === undefined) return undefined;
  try {
    return DataFormat.parse(JSON.parse(text));
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof z.ZodError)) throw error;
    throw new Failure(
      'file-unusable',
      `${formatFile(dataDir)} cannot be read, so the format of the data is unknown. Nothing was changed.`,
      'Restore it from a copy. If no newer svc has used this folder, delete it.',
    );
  }
}

/** For everything that writes to the data folder: an older svc would not understand newer data. */
export function refuseNewerData(dataDir: string): void {
  const found = readFormat(dataDir);
  if (found === undefined || found.format <= FORMAT) return;
  throw new Failure(
    'file-unusable',
    `The data in ${dataDir} has format ${found.format}, written by svc ${found.svc}. This svc knows formats up to ${FORMAT}. Nothing was changed.`,
    `Update svc to ${found.svc} or newer, or use another folder: SVC_DATA_DIR=<folder>`,
  );
}

/** Only by the process that holds the data root. */
export async function recordFormat(dataDir: string, version: string): Promise<void> {
  refuseNewerData(dataDir);
  if (readFormat(dataDir) !== undefined) return;
  const text = `${JSON.stringify({ format: FORMAT, svc: version } satisfies z.infer<typeof DataFormat>)}\n`;
  await writeFileAtomically(formatFile(dataDir), text, { mode: 0o600, folderMode: 0o700 });
}
