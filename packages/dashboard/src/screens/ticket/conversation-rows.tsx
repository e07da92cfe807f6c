// The rows of a conversation that are one line: what was asked, with its answer, and how a turn ended.
import { Hand } from 'lucide-react';
import { answerWords, turnWords } from 'svc-monitor/src/features/agents/item-words.ts';
import type { ConversationItem } from 'svc-monitor/src/features/agents/schemas.ts';
import { shownText } from '../../parts/agent-text.tsx';
import { classNames } from '../../parts/class-names.ts';
import { yourName } from '../attention/your-name.ts';

type ItemOf<Kind extends ConversationItem['kind']> = Extract<ConversationItem, { kind: Kind }>;

export function RequestRow({ item }: { item: ItemOf<'request'> }) {
  const { request } = item;
  const words = answerWords(item, yourName());
  return (
    <p
      className={classNames(
        'flex items-start gap-2 px-3 text-small',
        words === null ? 'text-you' : 'text-muted',
      )}
    >
      <Hand aria-hidden="true" className="mt-0.5 size-4 shrink-0" />
      <span className="from-outside min-w-0">
        {request.kind === 'permission' ? 'Asked for permission: ' : 'Asked: '}
        <span className="text-text">{shownText(request.title.slice(0, 400))}</span>
        {words === null ? (
          '. Waiting for your answer.'
        ) : (
          <>
            . <span className="text-text">{shownText(words.slice(0, 400))}</span>
          </>
        )}
      </span>
    </p>
  );
}

export function TurnRow({ item }: { item: ItemOf<'turn'> }) {
  const { ok } = item;
  const words = turnWords(item, yourName());
  return (
    <p className={classNames('flex items-center gap-3 text-tiny', ok ? 'text-muted' : 'text-broken')}>
      <span aria-hidden="true" className="h-px flex-1 bg-line" />
      {words === null ? (
        <span className="sr-only">End of the turn</span>
      ) : (
        <span className="from-outside max-w-[80%]">{shownText(words.slice(0, 400))}</span>
      )}
      <span aria-hidden="true" className="h-px flex-1 bg-line" />
    </p>
  );
}
