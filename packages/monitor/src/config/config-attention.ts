// One attention item, as long as a configuration file has an error.
import {
  attentionId,
  type Board,
  type ConfigProblem,
  draft,
  type EventDraft,
  formatProblem,
} from '@svc/core';

const reason = 'config-invalid';
/** Most errors in the message; each has the file, the key, what is expected and what was found. */
const MOST_SHOWN = 3;

export function createConfigAttention(options: {
  problems: () => readonly ConfigProblem[];
  board: () => Pick<Board, 'attention'>;
  append: (draft: EventDraft) => Promise<unknown>;
}): { update: () => Promise<void> } {
  /** What this daemon has raised, possibly not folded yet; null means nothing. */
  let raised: string | null | undefined;

  return {
    async update() {
      const id = attentionId({ orchestrator: null, ticket: null, reason });
      const before = raised === undefined ? (options.board().attention.get(id)?.message ?? null) : raised;
      raised = messageOf(options.problems().filter(({ severity }) => severity === 'error'));
      if (raised === before) return;
      try {
        await options.append(raised === null ? resolvedDraft() : raisedDraft(raised));
      } catch (error) {
        raised = before;
        throw error;
      }
    },
  };
}

function raisedDraft(message: string): EventDraft {
  return draft('comms.attention', {}, { reason, message, severity: 'high', remedy: 'svc config validate' });
}

function resolvedDraft(): EventDraft {
  return draft('comms.attention_resolved', {}, { reason, message: 'The configuration is valid again' });
}

function messageOf(errors: readonly ConfigProblem[]): string | null {
  if (errors.length === 0) return null;
  const shown = errors.slice(0, MOST_SHOWN).map(formatProblem);
  const more = errors.length > MOST_SHOWN ? [`and ${errors.length - MOST_SHOWN} more`] : [];
  return `The last valid values stay in effect, if there are any. ${[...shown, ...more].join(' ')}`;
}
