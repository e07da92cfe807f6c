// The rows of a conversation that are one line: what was asked, with its answer, and how a turn ended.
import type { ConversationItem } from '@svc/core';
import { Hand } from 'lucide-react';
import { shownText } from '../../parts/agent-text.tsx';
import { classNames } from '../../parts/class-names.ts';

type ItemOf<Kind extends ConversationItem['kind']> = Extract<ConversationItem, { kind: Kind }>;

export function RequestRow({ item: { request, answer, by } }: { item: ItemOf<'request'> }) {
  return (
    <p
      className={classNames(
        'flex items-start gap-2 px-3 text-small',
        answer === null ? 'text-you' : 'text-muted',
      )}
    >
      <Hand aria-hidden="true" className="mt-0.5 size-4 shrink-0" />
      <span className="from-outside min-w-0">
        {request.kind === 'permission' ? 'Asked for permission: ' : 'Asked: '}
        <span className="text-text">{shownText(request.title.slice(0, 400))}</span>
        {answer === null ? (
          '. Waiting for your answer.'
        ) : (
          <>
            . Answer: <span className="text-text">{shownText(answer.slice(0, 200))}</span>
            {by !== null && `, by ${shownText(by.slice(0, 100))}`}
          </>
        )}
      </span>
    </p>
  );
}

/** How a turn ended, by the reason of the protocol. The usual end is only a line. */
const turnEnds: Readonly<Record<string, string | null>> = {
  end_turn: null,
  cancelled: 'Stopped',
  max_tokens: 'Stopped: the answer reached its greatest length',
  max_turn_requests: 'Stopped: the turn made as many requests as it may',
  refusal: 'The agent refused',
};

export function turnWords(ok: boolean, reason: string): string | null {
  const known = Object.hasOwn(turnEnds, reason) ? turnEnds[reason] : undefined;
  if (known !== undefined && (ok || known !== null)) return known;
  const why = reason === '' ? '' : `: ${shownText(reason.slice(0, 300))}`;
  return `${ok ? 'Turn ended' : 'Turn failed'}${why}`;
}

export function TurnRow({ item: { ok, reason } }: { item: ItemOf<'turn'> }) {
  const words = turnWords(ok, reason);
  return (
    <p className={classNames('flex items-center gap-3 text-tiny', ok ? 'text-muted' : 'text-broken')}>
      <span aria-hidden="true" className="h-px flex-1 bg-line" />
      {words === null ? (
        <span className="sr-only">End of the turn</span>
      ) : (
        <span className="from-outside max-w-[80%]">{words}</span>
      )}
      <span aria-hidden="true" className="h-px flex-1 bg-line" />
    </p>
  );
}
