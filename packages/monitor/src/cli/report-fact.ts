// Hands a helper's fact to the daemon; while none runs, or when it cannot take it, the fact waits in the spool.
// What a helper did is done, whether or not it could be told: a fact that cannot be left anywhere is a warning.
import type { EventDraft } from '@svc/core';
import { messageOf } from '@svc/lib/errors';
import type { Machine } from '../config/environment.ts';
import { leaveInSpool } from '../log/spool.ts';
import { connectDaemon, type DaemonClient } from './daemon-client.ts';
import type { Terminal } from './terminal.ts';

export type ReportFact = (draft: EventDraft) => Promise<void>;

export function createReporter(terminal: Pick<Terminal, 'err' | 'now'>, machine: Machine): ReportFact {
  let daemon: Promise<DaemonClient | undefined> | undefined;
  let warned = false;

  const isTaken = async (draft: EventDraft): Promise<boolean> => {
    try {
      daemon ??= connectDaemon(machine);
      const client = await daemon;
      if (client !== undefined) await client.post('/api/events', { body: draft });
      return client !== undefined;
    } catch (error) {
      // It went away or refuses; the spool keeps the fact, and the daemon says there why it cannot be taken.
      warn(error);
      return false;
    }
  };

  function warn(error: unknown): void {
    if (!warned) terminal.err(`warning: the daemon could not be told: ${messageOf(error)}`);
    warned = true;
  }

  return async (draft) => {
    if (await isTaken(draft)) return;
    try {
      const [now, random] = [terminal.now().getTime(), crypto.randomUUID()];
      await leaveInSpool({ folder: machine.spoolDir, draft, now, random });
    } catch (error) {
      warn(error);
    }
  };
}
