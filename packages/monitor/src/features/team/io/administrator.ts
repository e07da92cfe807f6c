// The administrator's part: who is in the team. Every change of the roster is on disk before the relay gets it, and is sent
// again until the relay has it. At other machines nothing of this happens.
import { messageOf } from '@svc/lib/errors';
import type { Limit } from '@svc/lib/limit';
import type { Logger } from 'pino';
import { makeRoster } from './records.ts';
import { isRefusedAs, putRecord } from './relay-link.ts';
import { type Admitted, isAhead, withMember, withoutMember, withTime } from './roster-changes.ts';
import { newestKey, type TeamFile, writeTeamFile } from './team-file.ts';

export function createAdministrator(options: {
  configDir: string;
  file: () => TeamFile | undefined;
  setFile: (file: TeamFile) => void;
  /** Neither a change nor a roster of the relay must be lost. */
  oneAtATime: Limit;
  /** The relay has this roster. */
  onPublished: (file: TeamFile) => Promise<void>;
  onNewKey: () => Promise<void>;
  logger: Logger;
  now: () => number;
}) {
  const { configDir, setFile, oneAtATime, logger, now } = options;
  /** Why the relay does not have the newest roster; null if it has it. */
  let rosterFailing: string | null = null;
  /** Members whose keys cannot be used. */
  let unusable: readonly string[] = [];
  /** Machines that are being admitted, until the roster has them. */
  const admitting = new Map<string, Admitted>();

  const ownFile = (): TeamFile | undefined => {
    const file = options.file();
    return file?.admin === file?.keys.id ? file : undefined;
  };

  async function changeRoster(change: (own: TeamFile) => TeamFile | undefined): Promise<void> {
    await oneAtATime(async () => {
      const file = options.file();
      const next = file && change(file);
      if (next === undefined) return;
      const changed = { ...next, rosterVersion: Math.max(next.rosterVersion + 1, now()) };
      await writeTeamFile(configDir, changed).catch(rosterFailed);
      setFile(changed);
      await publishRoster();
    });
  }

  async function publishRoster(): Promise<void> {
    const file = options.file();
    if (file === undefined) return;
    try {
      const made = await makeRoster(file, now());
      unusable = made.unusable;
      await putRecord(file.channelUrl, made.record);
    } catch (error) {
      rosterFailed(error);
    }
    rosterFailing = null;
    await options.onPublished(file);
  }

  function rosterFailed(error: unknown): never {
    // The relay has this one already, or a later one, which the stream brings.
    rosterFailing = isRefusedAs(error, 'old-version') ? null : messageOf(error);
    throw error;
  }

  function failed(error: unknown): void {
    logger.warn({ err: error }, 'the roster of the team could not be published');
  }

  async function admitAll(): Promise<void> {
    for (const [id, join] of admitting)
      await changeRoster((own) => withMember(own, join)).then(() => admitting.delete(id), failed);
  }

  async function remove(id: string): Promise<void> {
    await changeRoster((own) => withoutMember(own, id, now()));
    await options.onNewKey();
  }

  /** What time changes: invitations expire, and keys are replaced. */
  async function expire(): Promise<void> {
    const file = ownFile();
    if (file === undefined || withTime(file, now()) === undefined) return;
    await changeRoster((own) => withTime(own, now())).catch(failed);
    if (newestKey(options.file() ?? file).epoch !== newestKey(file).epoch) await options.onNewKey();
  }

  return {
    changeRoster,
    publishRoster,
    remove,
    expire,
    async admit(join: Admitted): Promise<void> {
      admitting.set(join.id, join);
      await admitAll();
    },
    /** The machine has removed its heartbeat. */
    async left(id: string): Promise<void> {
      if (ownFile() !== undefined) await remove(id).catch(failed);
    },
    /** Until then a machine that was removed can read, and one that was admitted cannot. */
    async retryRoster(): Promise<void> {
      if (rosterFailing !== null) await oneAtATime(publishRoster).catch(failed);
      await admitAll();
    },
    /** A relay that has lost the roster lets nobody read or write. */
    republishLost(): void {
      if (ownFile() !== undefined) void oneAtATime(publishRoster).catch(failed);
    },
    /** After a start. */
    async resume(): Promise<void> {
      const file = ownFile();
      if (file === undefined) return;
      if (withTime(file, now()) !== undefined) await expire();
      else await publishRoster().catch(failed);
    },
    figures: (nameOf: (id: string) => string) => {
      const file = ownFile();
      return {
        rosterFailing,
        unusable: unusable.map(nameOf),
        isAhead: file !== undefined && isAhead(file, now()),
      };
    },
    clear(): void {
      rosterFailing = null;
      unusable = [];
      admitting.clear();
    },
  };
}
