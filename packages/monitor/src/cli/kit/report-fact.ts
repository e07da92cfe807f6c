// Sends a helper's fact to the daemon; when that fails, the fact waits in the spool. The helper's work is already done, so
// a fact that cannot be stored either is only a warning.
import { messageOf } from '@svc/lib/errors';
import type { Machine } from '../../kernel/config/environment.ts';
import type { EventDraft } from '../../kernel/log/event-line.ts';
import { leaveInSpool } from '../../kernel/log/spool.ts';
import { connectDaemon, type DaemonClient } from './daemon-client.ts';
import type { Terminal } from './terminal.ts';

export type ReportFact = (draft: EventDraft) => Promise<void>;

export function createReporter(terminal: Pick<Terminal, 'err' | 'now'>, machine: Machine): ReportFact {
  let daemon: Promise<DaemonClient | undefined> | undefined;
  let warned = false;

  const isAccepted = async (draft: EventDraft): Promise<boolean> => {
    try {
      daemon ??= connectDaemon(machine);
      const client = await daemon;
      if (client !== undefined) await client.post('/api/events', { body: draft });
      return client !== undefined;
    } catch (error) {
      // It is gone or rejects the fact; the spool keeps it, and the daemon records there why it is rejected.
      warn(error);
      return false;
    }
  };

  function warn(error: unknown): void {
    if (!warned) terminal.err(`warning: the event was not sent to the daemon: ${messageOf(error)}`);
    warned = true;
  }

  return async (draft) => {
    if (await isAccepted(draft)) return;
    try {
      const [now, random] = [terminal.now().getTime(), crypto.randomUUID()];
      await leaveInSpool({ folder: machine.spoolDir, draft, now, random });
    } catch (error) {
      warn(error);
    }
  };
}
