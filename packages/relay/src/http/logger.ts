// Structured logs, one JSON object per line, without payloads, keys or channel ids: whoever has a channel's
// id can send to it, so a line names it by a short hash.
import { createHash } from 'node:crypto';
import pino, { type DestinationStream, type Logger } from 'pino';

export type { Logger } from 'pino';

export function createLogger(destination: DestinationStream, level: string): Logger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
}

/** The same channel has the same name in the lines of every relay process. */
export function channelInLogs(id: string): string {
  return createHash('sha256').update(id).digest('hex').slice(0, 10);
}
