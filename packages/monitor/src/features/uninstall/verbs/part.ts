// The parts of leaving svc. Each first shows what it would end, remove and keep, with the reason, and then does it. What is
// gone already is not shown, so a run that was killed is continued by the next one.
import { rmdir } from 'node:fs/promises';
import { messageOf, systemErrorCode } from '@svc/lib/errors';
import type { Session } from '../../../cli/kit/session.ts';
import type { Terminal } from '../../../cli/kit/terminal.ts';
import { plainText } from '../../../cli/kit/text.ts';
import { Failure } from '../../../kernel/failure.ts';

export type Item = {
  action: 'end' | 'remove' | 'keep';
  what: string;
  why: string;
  /** For what stays: how a person removes it. */
  command?: string;
};

/** What could not be done, and the command that does it later. */
export type Left = {
  what: string;
  why: string;
  command: string;
  /** It can be done by this command again, which needs the folders of svc for that. */
  again: boolean;
};

/** Unsaved work, at its new place, with the commands that restore it. */
export type Saved = { what: string; file: string; restore: string[] };

export type Part = {
  items: Item[];
  act: (report: Report) => Promise<Left[]>;
};

export type Report = {
  done: (line: string) => void;
  saved: (work: Saved) => void;
  warn: (line: string) => void;
};

export type Leaving = {
  terminal: Terminal;
  session: Session;
  /** Where unsaved work goes. */
  keptFolder: string;
  keepData: boolean;
};

export const AGAIN = 'svc uninstall';

/** Folders that svc may have made, innermost first: only an empty one goes. */
export async function removeEmpty(...folders: string[]): Promise<void> {
  for (const folder of folders) {
    try {
      await rmdir(folder);
    } catch (error) {
      if (systemErrorCode(error) === undefined) throw error;
    }
  }
}

/** A failure that a person can do something about is left for later; a bug is not. */
export async function orLeft(what: string, work: () => Promise<void>): Promise<Left[]> {
  try {
    await work();
    return [];
  } catch (error) {
    if (!(error instanceof Failure) && systemErrorCode(error) === undefined) throw error;
    const remedy = error instanceof Failure ? error.remedy : undefined;
    return [
      {
        what,
        why: plainText(messageOf(error)),
        command: remedy === undefined ? AGAIN : `${plainText(remedy)}. Then: ${AGAIN}`,
        again: true,
      },
    ];
  }
}
