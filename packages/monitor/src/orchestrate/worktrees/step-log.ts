// The output of a worktree's steps, kept in one file. A step that prints without end does not fill the disk:
// beyond its share only its last lines are kept, which the runner writes at the end.
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';

const STEP_BYTES = 10 * 1024 * 1024;

export type StepLog = {
  file: string;
  /** A line of ours; also begins the share of a new step. */
  heading: (text: string) => Promise<void>;
  output: (chunk: Buffer) => Promise<void>;
  close: () => Promise<void>;
};

/** The file is begun anew, or gone on with (`append`). */
export async function openStepLog(options: {
  file: string;
  append: boolean;
  stepBytes?: number;
}): Promise<StepLog> {
  const { file, append, stepBytes = STEP_BYTES } = options;
  await mkdir(dirname(file), { recursive: true });
  // Output may hold what is nobody else's business.
  const handle: FileHandle = await open(file, append ? 'a' : 'w', 0o600);
  let left = stepBytes;
  // One write after the other: two streams come at once.
  let last: Promise<unknown> = Promise.resolve();
  const write = (data: Buffer | string): Promise<void> => {
    const next = last.then(() => handle.appendFile(data));
    last = next.catch(() => undefined);
    return next;
  };
  return {
    file,
    async heading(text) {
      left = stepBytes;
      await write(`${text}\n`);
    },
    async output(chunk) {
      if (left <= 0) return;
      const part = chunk.subarray(0, left);
      left -= part.length;
      await write(part);
      if (left <= 0) await write(`\n[svc: more than ${stepBytes} bytes; the rest is not kept]\n`);
    },
    async close() {
      await last;
      await handle.close();
    },
  };
}
