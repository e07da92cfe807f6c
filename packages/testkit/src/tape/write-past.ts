// The past on disk, where the daemon finds it: month files, signal files, agents' output.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeMonthFiles } from './month-files.ts';
import type { Past } from './past.ts';

export function writePast({ lines, signals, outputs }: Past, eventsDir: string, runsDir: string): void {
  if (lines.length > 0) writeMonthFiles(eventsDir, lines);
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  for (const { orchestrator, ticket, ...signal } of signals.values())
    write(
      join(runsDir, orchestrator, 'workers', `${ticket}.json`),
      JSON.stringify({ ticket, orchestrator, ...signal }, null, 2),
    );
  for (const [key, text] of outputs) {
    const [orchestrator = '', ticket = ''] = key.split('/');
    write(join(runsDir, orchestrator, 'workers/output', `${ticket}-stream.jsonl`), text);
  }
}
