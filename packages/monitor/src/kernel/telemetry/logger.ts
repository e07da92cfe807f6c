// Structured logs, one JSON object per line. Fields that may contain a secret are redacted by name.
import pino, { type DestinationStream, type Logger } from 'pino';

const secretPaths = ['secret', 'token', 'apiKey', 'authorization', 'cookie', 'headers'].flatMap((name) => [
  name,
  `*.${name}`,
  `*.*.${name}`,
]);

export function createLogger(destination: DestinationStream, level = 'info'): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: secretPaths, censor: '[removed]' },
    },
    destination,
  );
}
