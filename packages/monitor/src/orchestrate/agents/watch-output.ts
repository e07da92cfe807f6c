// Follows the stream file of an agent and folds its lines. Nothing is kept on disk: after a restart the file is
// folded again from its start. Reads are bounded, whatever is written; a file that was cut or replaced is read from
// its start, and what its sessions had told before is not counted twice.

import { constants, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import { type AgentStream, noAgentStream, readAgentStream } from '@svc/core';
import { ifPresent } from '@svc/lib/files';
import { every } from '@svc/lib/rounds';

const CHUNK = 64 * 1024;
/** A longer line is passed over: what matters is in short ones. */
const LONGEST_LINE = 1024 * 1024;
const NEWLINE = 0x0a;
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

export type OutputWatch = {
  stream: () => AgentStream;
  /** When the file was last written to, also by an attempt of long ago; null while there is none. */
  lastOutputAt: () => string | null;
  /** Lines that were passed over for their length. */
  tooLong: () => number;
  /** Reads what is there now; several who ask while another look is under way share the next one. */
  look: () => Promise<void>;
  stop: () => Promise<void>;
};

export function watchOutput({
  path,
  onChange,
  onProblem,
  everyMs = 1_000,
}: {
  path: string;
  onChange?: (stream: AgentStream) => void;
  onProblem?: (error: unknown) => void;
  everyMs?: number;
}): OutputWatch {
  let stream = noAgentStream;
  let lastOutputAt: string | null = null;
  let tooLong = 0;
  let stopped = false;
  let file: { identity: string; offset: number; lines: LineReader } | null = null;

  async function readOn(): Promise<void> {
    if (stopped) return;
    const handle = await ifPresent(open(path, flags));
    if (handle === undefined) return;
    const before = stream;
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) return;
      lastOutputAt = stats.mtime.toISOString();
      const identity = identityOf(stats);
      if (file === null || file.identity !== identity || stats.size < file.offset)
        file = { identity, offset: 0, lines: lineReader() };
      const chunk = Buffer.alloc(CHUNK);
      // No further than the file was when the look began: a fast writer does not keep it for ever.
      while (file.offset < stats.size) {
        const length = Math.min(CHUNK, stats.size - file.offset);
        const { bytesRead } = await handle.read(chunk, 0, length, file.offset);
        if (bytesRead === 0) break;
        file.offset += bytesRead;
        tooLong += file.lines.add(chunk.subarray(0, bytesRead), (line) => {
          stream = readAgentStream(stream, line);
        });
      }
    } finally {
      await handle.close();
    }
    if (stream !== before && !stopped) onChange?.(stream);
  }

  const looks = every(everyMs, readOn, (error) => onProblem?.(error));
  void looks.runNow();
  return {
    stream: () => stream,
    lastOutputAt: () => lastOutputAt,
    tooLong: () => tooLong,
    look: looks.runAfresh,
    async stop() {
      stopped = true;
      await looks.stop();
    },
  };
}

type LineReader = {
  /** Hands over the whole lines; gives how many were too long. */
  add: (bytes: Buffer, hand: (line: string) => void) => number;
};

function lineReader(): LineReader {
  let parts: Buffer[] = [];
  let length = 0;
  return {
    add(bytes, hand) {
      let passed = 0;
      let from = 0;
      for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, from)) {
        length += end - from;
        if (length > LONGEST_LINE) passed += 1;
        else hand(Buffer.concat([...parts, bytes.subarray(from, end)]).toString('utf8'));
        parts = [];
        length = 0;
        from = end + 1;
      }
      length += bytes.length - from;
      if (length > LONGEST_LINE) parts = [];
      // A copy: the reader uses the same memory for the next piece.
      else if (from < bytes.length) parts.push(Buffer.from(bytes.subarray(from)));
      return passed;
    },
  };
}

function identityOf({ dev, ino }: Stats): string {
  return `${dev}:${ino}`;
}
