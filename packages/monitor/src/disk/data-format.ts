// The format of the data folder as a whole: one number in `format.json`. The tables of the database, manifests and lines
// have versions of their own; a step here is for what concerns several of them, or files without a version.
//   A step changes format n to n + 1. It writes new files beside the old ones and renames them, and may run twice: the
//   number is raised after it, so that a killed step is done again. Never edit a step that was released.
import { join } from 'node:path';
import { ifPresentSync } from '@svc/lib/files';
import { readTextNow } from '@svc/lib/paths';
import { z } from 'zod';
import { Failure } from '../errors.ts';
import { writeFileAtomically } from './atomic-write.ts';

type Step = (dataDir: string) => Promise<void>;

/** From format 0, a folder without the file, to 1: only the number is new. */
const released: readonly Step[] = [async () => undefined];

const DataFormat = z.object({
  format: z.int().positive(),
  svc: z.string().describe('the version that raised it to this format'),
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
export function refuseNewerData(dataDir: string, known = released.length): void {
  const found = readFormat(dataDir);
  if (found === undefined || found.format <= known) return;
  throw new Failure(
    'file-unusable',
    `The data in ${dataDir} has format ${found.format}, written by svc ${found.svc}. This svc knows formats up to ${known}. Nothing was changed.`,
    `Update svc to ${found.svc} or newer, or use another folder: SVC_DATA_DIR=<folder>`,
  );
}

/** Only by the process that holds the data root. */
export async function upgradeData({
  dataDir,
  version,
  steps = released,
}: {
  dataDir: string;
  version: string;
  steps?: readonly Step[];
}): Promise<{ from: number; to: number }> {
  refuseNewerData(dataDir, steps.length);
  const from = readFormat(dataDir)?.format ?? 0;
  for (const [index, step] of steps.entries()) {
    if (index < from) continue;
    await step(dataDir);
    const text = `${JSON.stringify({ format: index + 1, svc: version } satisfies z.infer<typeof DataFormat>)}\n`;
    await writeFileAtomically(formatFile(dataDir), text, { mode: 0o600, folderMode: 0o700 });
  }
  return { from, to: steps.length };
}
