// A fix that the daemon can run itself, by the command that a person would run.
import type { AttentionItem } from 'svc-monitor/src/features/attention/entity.ts';

export type RemedyAction = {
  /** The button's label. */
  label: string;
  /** Shown in the confirmation. */
  what: string;
  command: string;
  /** Sends the request, with the person's name. */
  send: (by: { by?: string }) => Promise<unknown>;
};

export type RemedyItem = Pick<AttentionItem, 'remedy' | 'reason' | 'ticket' | 'orchestrator'>;

export type RemedyCommand = readonly [
  pattern: RegExp,
  action: (item: RemedyItem, first: string, second: string) => RemedyAction,
];
