// What people read of a request that was answered and of how a turn ended, on the ticket's page and on the command line.
import type { ConversationItem } from './schemas.ts';

type ItemOf<Kind extends ConversationItem['kind']> = Extract<ConversationItem, { kind: Kind }>;

/** What the daemon notes for a person who gave no name. */
const UNNAMED = 'a person';

/** `me`: the name under which the reader acts. Null: nobody is named. */
function nameOf(by: string | null | undefined, me: string): string | null {
  if (by === null || by === undefined) return null;
  return by === UNNAMED || by === me ? 'You' : by;
}

const objects: Readonly<Record<string, string>> = {
  edit: 'this edit',
  delete: 'this deletion',
  execute: 'this command',
};

/** `You allowed this edit`; null while it waits for an answer. */
export function answerWords({ request, answer, by }: ItemOf<'request'>, me: string): string | null {
  if (answer === null) return null;
  const who = nameOf(by, me);
  const what = objects[request.toolKind ?? ''] ?? 'this';
  switch (request.options.find(({ name }) => name === answer)?.kind ?? answer) {
    case 'allow_once':
      return who === null ? `Allowed ${what}` : `${who} allowed ${what}`;
    case 'reject_once':
      return who === null ? `Rejected ${what}` : `${who} rejected ${what}`;
    case 'accept':
      return who === null ? 'Answered' : `${who} answered`;
    case 'decline':
      return who === null ? 'Declined' : `${who} declined to answer`;
    case 'cancelled':
      return who === null ? 'Nobody answered before the agent ended' : `${who} stopped the agent instead`;
    case 'withdrawn by the agent':
      return 'The agent withdrew it';
    default:
      return who === null ? `Answer: ${answer}` : `${who} answered: ${answer}`;
  }
}

/** By the reason of the protocol. */
const turnEnds: Readonly<Record<string, string>> = {
  max_tokens: 'Stopped: the answer reached its greatest length',
  max_turn_requests: 'Stopped: the turn made as many requests as it may',
  refusal: 'The agent refused',
};

/** Null for the usual end, of which there is nothing to say. */
export function turnWords(
  { ok, reason, by }: Omit<ItemOf<'turn'>, 'id' | 'rev' | 'kind'>,
  me: string,
): string | null {
  if (ok && reason === 'end_turn') return null;
  const who = nameOf(by, me);
  if (reason === 'cancelled') return who === null ? 'Stopped' : `${who} stopped it`;
  if (Object.hasOwn(turnEnds, reason)) return turnEnds[reason] ?? null;
  return `${ok ? 'Turn ended' : 'Turn failed'}${reason === '' ? '' : `: ${reason}`}`;
}

/** What became of a call of a tool. */
export const toolStatusWords: Readonly<Record<ItemOf<'tool'>['status'], string>> = {
  pending: 'Not started',
  in_progress: 'Running',
  completed: 'Done',
  failed: 'Failed',
  'cut-off': 'Cut off, result unknown',
};

/** The agent writes the status of an entry of its plan. */
export function planStatusWords(status: string): string {
  const known: Readonly<Record<string, string>> = toolStatusWords;
  return Object.hasOwn(known, status) ? (known[status] ?? status) : status.replaceAll('_', ' ');
}
