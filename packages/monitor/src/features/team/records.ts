// The machines of the team, what they publish, and commands between them.
import type { Last } from '../../kernel/board/board.ts';
import type { DetailOf } from '../../kernel/log/topics.ts';
import type { ResultValue, TeamCommand } from './command.ts';
import type { SharedValue } from './shared.ts';

export type TeamMachine = DetailOf<'team.roster.changed'>['machines'][number] & Last;

type OrGone<Shared> = Shared extends { kind: infer Kind; value: infer Value }
  ? { kind: Kind; value: Value | null }
  : never;

/** `value` null: it no longer exists. */
export type TeamRecord = OrGone<SharedValue> & {
  id: string;
  machine: string;
  key: string;
  version: number;
} & Last;

export type CommandEntry = {
  key: string;
  id: string;
  direction: 'sent' | 'received';
  from: string;
  to: string;
  command: TeamCommand;
  at: string;
  expiresAt: string;
  state: 'open' | ResultValue['state'];
  why: string | null;
  remedy: string | null;
  endedAt: string | null;
  /** Received: the machine that asked has the result, or no longer asks. */
  closed: boolean;
} & Last;
