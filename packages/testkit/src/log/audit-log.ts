// Reads a log more strictly than the product does: every byte of every month file must belong to a complete line that
// the schema knows, and `seq` must increase by one from 1.

import {
  appendFileSync,
  cpSync,
  createReadStream,
  existsSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { topics } from 'svc-monitor/src/features/topics.ts';
import { type EventLine, parseEventLine } from 'svc-monitor/src/kernel/log/event-line.ts';
import type { SendReport } from '../deliveries/signed-delivery.ts';

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
    return parseEventLine(topics, JSON.parse(text));
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

// Damages a log, or a copy of one, in a known way. A check that does not notice it is useless.

/** A change of one line, and the verdict that has to follow. */
const sabotages = {
  'remove a line': { change: (_line: string) => '', verdict: 'lost 1 duplicated 0 torn 0' },
  'repeat a line': { change: (line: string) => line + line, verdict: 'lost 0 duplicated 1 torn 0' },
  'tear a line': {
    change: (line: string) => `${line.slice(0, line.length / 2)}\n`,
    verdict: 'lost 1 duplicated 0 torn 1',
  },
} as const;

/** Copies of the log in a folder; in each, the line of one delivery is damaged in another way. */
export function* damagedCopies(eventsDir: string, folder: string, deliveryId: string) {
  for (const [name, { change, verdict }] of Object.entries(sabotages)) {
    const copy = join(folder, name);
    sabotageCopy(eventsDir, copy, deliveryId, change);
    yield { name, copy, verdict: new RegExp(verdict) };
  }
}

function sabotageCopy(
  eventsDir: string,
  copy: string,
  deliveryId: string,
  change: (line: string) => string,
): void {
  cpSync(eventsDir, copy, { recursive: true });
  for (const name of readdirSync(copy).filter((file) => file.endsWith('.jsonl'))) {
    const path = join(copy, name);
    const text = readFileSync(path, 'utf8');
    const at = text.indexOf(`"deliveryId":"${deliveryId}"`);
    if (at < 0) continue;
    const start = text.lastIndexOf('\n', at) + 1;
    const end = text.indexOf('\n', at) + 1;
    writeFileSync(path, text.slice(0, start) + change(text.slice(start, end)) + text.slice(end));
    return;
  }
  throw new Error(`no line of ${deliveryId} to damage`);
}

/** Appends what a power cut may leave at the end of the newest file: the start of a line. */
export function leaveTornEnd(eventsDir: string, length: number): boolean {
  const newest = newestMonth(eventsDir);
  if (newest === undefined) return false;
  const line = `{"seq":9007199254740991,"ts":"2026-01-02T03:04:05.678Z","id":"torn","detail":{"text":"${'x'.repeat(length)}`;
  appendFileSync(newest, line.slice(0, length));
  return true;
}

/** Whether the newest file ends in the middle of a line, or has bytes that were never written. */
export function hasTornEnd(eventsDir: string): boolean {
  const newest = newestMonth(eventsDir);
  if (newest === undefined) return false;
  const bytes = readFileSync(newest);
  return bytes.length > 0 && (bytes.at(-1) !== 0x0a || bytes.includes(0));
}

function newestMonth(eventsDir: string): string | undefined {
  if (!existsSync(eventsDir)) return undefined;
  const names = readdirSync(eventsDir).filter((file) => file.endsWith('.jsonl'));
  const newest = names.toSorted().at(-1);
  return newest === undefined ? undefined : join(eventsDir, newest);
}

// Compares the log with the answers to senders: the promise is `lost 0 duplicated 0 torn 0`.

export type Verdict = {
  acknowledged: number;
  /** Acknowledged, but not in the log. */
  lost: number;
  /** Deliveries with more than one line. */
  duplicated: number;
  torn: number;
  /** Where `seq` skips or repeats. */
  holes: number;
  /** A line that differs from the one reported to the sender, and contradictory answers. */
  untrue: number;
  problems: string[];
};

export function judge(report: SendReport, audit: LogAudit): Verdict {
  const problems = [...audit.problems, ...report.contradictions.slice(0, 10)];
  let lost = 0;
  let untrue = report.contradictions.length;
  for (const [deliveryId, reported] of report.acknowledged) {
    const [line] = audit.deliveries.get(deliveryId) ?? [];
    if (line === undefined) {
      lost += 1;
      problems.push(`${deliveryId} was acknowledged but is not in the log`);
    } else if (line.lineId !== reported.lineId || line.event !== (reported.event ?? line.event)) {
      untrue += 1;
      problems.push(
        `${deliveryId} is line ${line.lineId} (${line.event}), not ${reported.lineId} (${reported.event})`,
      );
    }
  }
  const duplicated = [...audit.deliveries.values()].filter((lines) => lines.length > 1).length;
  const { torn, holes } = audit;
  return { acknowledged: report.acknowledged.size, lost, duplicated, torn, holes, untrue, problems };
}

export function isKept({ lost, duplicated, torn, holes, untrue }: Verdict): boolean {
  return lost + duplicated + torn + holes + untrue === 0;
}

export function verdictLine(verdict: Verdict): string {
  const { acknowledged, lost, duplicated, torn, holes, untrue } = verdict;
  const more = holes + untrue === 0 ? '' : ` holes ${holes} untrue ${untrue}`;
  return `acknowledged ${acknowledged} lost ${lost} duplicated ${duplicated} torn ${torn}${more}`;
}
