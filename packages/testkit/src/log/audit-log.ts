// Reads a log more strictly than the product does: every byte of every month file must belong to a complete line that
// the schema knows, and `seq` must increase by one from 1.
import { createReadStream, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type EventLine, parseEventLine } from '@svc/core';

export type LogAudit = {
  lines: number;
  bytes: number;
  /** Lines that are not events, and an end without a newline. */
  torn: number;
  /** Positions where `seq` is not one more than before. */
  holes: number;
  /** By delivery id: its lines. */
  deliveries: Map<string, { lineId: string; event: string; via: string }[]>;
  /** Torn ends that the daemon moved aside after a crash. */
  quarantined: number;
  /** The first few problems. */
  problems: string[];
};

const MONTH_FILE = /^\d{4}-\d\d\.jsonl$/;
const PROBLEMS_SHOWN = 10;

export async function auditLog(eventsDir: string): Promise<LogAudit> {
  const audit: LogAudit = {
    lines: 0,
    bytes: 0,
    torn: 0,
    holes: 0,
    deliveries: new Map(),
    quarantined: listed(join(eventsDir, 'quarantine')).length,
    problems: [],
  };
  let expected = 1;
  const report = (problem: string): void => {
    if (audit.problems.length < PROBLEMS_SHOWN) audit.problems.push(problem);
  };
  for (const file of listed(eventsDir)
    .filter((name) => MONTH_FILE.test(name))
    .toSorted()) {
    for await (const { text, whole } of linesOf(join(eventsDir, file))) {
      audit.bytes += Buffer.byteLength(text) + 1;
      const parsed = whole ? parseText(text) : { ok: false as const, problem: 'no newline at the end' };
      if (!parsed.ok) {
        audit.torn += 1;
        report(`${file}: ${parsed.problem}: ${text.slice(0, 200)}`);
        continue;
      }
      audit.lines += 1;
      if (parsed.line.seq !== expected) {
        audit.holes += 1;
        report(`${file}: seq ${parsed.line.seq} where ${expected} was due`);
      }
      expected = parsed.line.seq + 1;
      note(audit, parsed.line);
    }
  }
  return audit;
}

function note({ deliveries }: LogAudit, { deliveryId, id, event, via }: EventLine): void {
  if (deliveryId === undefined) return;
  const lines = deliveries.get(deliveryId);
  if (lines === undefined) deliveries.set(deliveryId, [{ lineId: id, event, via }]);
  else lines.push({ lineId: id, event, via });
}

function parseText(text: string): ReturnType<typeof parseEventLine> {
  try {
    return parseEventLine(JSON.parse(text));
  } catch (error) {
    return { ok: false, problem: String(error) };
  }
}

/** Splits only at newlines: a carriage return or a line separator is a byte like any other. */
async function* linesOf(path: string): AsyncGenerator<{ text: string; whole: boolean }> {
  let rest = Buffer.alloc(0);
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 })) {
    const bytes = Buffer.concat([rest, chunk as Buffer]);
    let start = 0;
    for (let end = bytes.indexOf(0x0a); end >= 0; end = bytes.indexOf(0x0a, start)) {
      yield { text: bytes.toString('utf8', start, end), whole: true };
      start = end + 1;
    }
    rest = bytes.subarray(start);
  }
  if (rest.length > 0) yield { text: rest.toString('utf8'), whole: false };
}

function listed(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}
