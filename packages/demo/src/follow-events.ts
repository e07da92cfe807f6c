// Reads the daemon's live log, and calls for each line. A stream that breaks is resumed where it was.
import { createClient, type EventLine } from '@svc/client';
import type { DaemonAddress } from './daemon.ts';

/** Resolves when the first stream is open; it goes on until `signal`. */
export function followEvents(
  { url, headers }: DaemonAddress,
  onLine: (line: EventLine) => void,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    const follow = async (): Promise<void> => {
      const onLink = ({ state }: { state: string }): void => {
        if (state === 'live') resolve();
      };
      for await (const line of createClient(url, { headers }).follow({ signal, onLink })) onLine(line);
    };
    void follow().finally(resolve);
  });
}
