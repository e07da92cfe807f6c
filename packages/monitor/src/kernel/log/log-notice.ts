// Events in the log's own operation that the daemon reports to a person.
import type { MissingLines } from './missing-lines.ts';
import type { CorruptLine } from './read-lines.ts';
import type { TornTail } from './recovery.ts';

export type LogNotice =
  | ({ kind: 'torn-tail' } & TornTail)
  | ({ kind: 'corrupt-line' } & CorruptLine)
  | { kind: 'not-writable'; reason: string }
  | { kind: 'writable-again' }
  | ({ kind: 'lines-missing' } & MissingLines)
  | { kind: 'index-rebuilding'; reason: string }
  | { kind: 'index-failing'; reason: string }
  | { kind: 'index-works-again' }
  | { kind: 'database-set-aside'; path: string; reason: string }
  | { kind: 'host-id-set-aside'; path: string };
