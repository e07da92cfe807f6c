// Damages a log, or a copy of one, in a known way. A check that does not notice it is useless.
import { appendFileSync, cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A change of one line, and the verdict that has to follow. */
export const sabotages = {
  'remove a line': { change: (_line: string) => '', verdict: 'lost 1 duplicated 0 torn 0' },
  'repeat a line': { change: (line: string) => line + line, verdict: 'lost 0 duplicated 1 torn 0' },
  'tear a line': {
    change: (line: string) => `${line.slice(0, line.length / 2)}\n`,
    verdict: 'lost 1 duplicated 0 torn 1',
  },
} as const;

/** Copies the log and damages the line of one delivery. */
export function sabotageCopy(
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
