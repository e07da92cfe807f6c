// The lines of runs in the event log. One pass over the log serves all runs, from the first line that any of them
// lacks; what is found goes into one file per run, so that memory stays the same however long the log is.
import { appendFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type ArchivedRunState, runOfLine, runStateAfter } from '@svc/core';
import { findPositionOfSeq } from '../log/find-position.ts';
import { parseHead, parseLine } from '../log/log-entry.ts';
import { readLines } from '../log/read-lines.ts';

const FLUSH_BYTES = 4 * 1024 * 1024;
/** Cheaper than parsing a line: most lines of a log are of no run. */
const MARK = '"orchestrator":"';

export type LinesOfRun = {
  count: number;
  bytes: number;
  /** 0 when there are none. */
  lastSeq: number;
  lastAt: string | null;
  /** What the lines say of it; undefined when they say nothing. */
  state: ArchivedRunState | undefined;
  project: string | undefined;
  /** Where the lines lie; null when they were only counted. */
  file: string | null;
};

export type CollectedLines = { of: (orchestrator: string) => LinesOfRun; scannedSeq: number };

const none: LinesOfRun = {
  count: 0,
  bytes: 0,
  lastSeq: 0,
  lastAt: null,
  state: undefined,
  project: undefined,
  file: null,
};

export async function collectRunLines({
  folder,
  after,
  into,
}: {
  folder: string;
  /** Per run, the last line that is not wanted. Other runs are left out. */
  after: ReadonlyMap<string, number>;
  /** The folder for the files; without it lines are only counted. */
  into: string | undefined;
}): Promise<CollectedLines> {
  const found = new Map<string, LinesOfRun>();
  const pending = createPending(into);
  let scannedSeq = 0;
  if (after.size > 0) {
    const from = findPositionOfSeq(folder, Math.min(...after.values()) + 1);
    for await (const lines of readLines({ folder, ...(from && { from }) })) {
      for (const { text } of lines) {
        if (!text.includes(MARK)) continue;
        const line = parseLine(text);
        const run = line === null ? undefined : runOfLine(line);
        if (line === null || run === undefined || line.seq <= (after.get(run) ?? Infinity)) continue;
        const before = found.get(run) ?? none;
        const project = runStateAfter(line) === 'running' ? line.detail['project'] : undefined;
        found.set(run, {
          count: before.count + 1,
          bytes: before.bytes + Buffer.byteLength(text) + 1,
          lastSeq: line.seq,
          lastAt: line.ts,
          state: runStateAfter(line) ?? before.state,
          project: typeof project === 'string' ? project : before.project,
          file: pending.add(run, text),
        });
      }
      scannedSeq = parseHead(lines.at(-1)?.text ?? '')?.seq ?? scannedSeq;
      await pending.flush(FLUSH_BYTES);
    }
  }
  await pending.flush(0);
  return { of: (orchestrator) => found.get(orchestrator) ?? none, scannedSeq };
}

function createPending(into: string | undefined) {
  const texts = new Map<string, string[]>();
  let size = 0;
  return {
    add(run: string, text: string): string | null {
      if (into === undefined) return null;
      const held = texts.get(run);
      if (held === undefined) texts.set(run, [text, '\n']);
      else held.push(text, '\n');
      size += text.length;
      return join(into, run);
    },
    async flush(above: number): Promise<void> {
      if (into === undefined || size <= above) return;
      await mkdir(into, { recursive: true, mode: 0o700 });
      for (const [run, held] of texts) await appendFile(join(into, run), held.join(''), { mode: 0o600 });
      texts.clear();
      size = 0;
    },
  };
}
