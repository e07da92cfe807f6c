// A small field to write to an agent that has stopped. Enter sends, Shift+Enter starts a line.
import { SendHorizontal } from 'lucide-react';
import { useId, useRef, useState } from 'react';
import { shownText } from '../../parts/agent-text.tsx';
import { Button } from '../../parts/button.tsx';
import { Key } from '../../parts/key.tsx';
import { Failed } from '../../parts/states.tsx';
import { type HasKeys, useAnswerKeys } from './answer-keys.ts';
import { useSending } from './use-sending.ts';

export const LONGEST_MESSAGE = 100_000;

/** The same key twice acts once: a message that is sent again after a failure keeps its key. */
export function newKey(): string {
  return `page-${Date.now()}-${Math.random().toString(36).slice(2)}`;
}

/** What is being written, and how it is sent. `onSend` resolves with what happens to it. */
export function useDraft(onSend: (text: string, key: string) => Promise<{ queued: string }>, isOff: boolean) {
  const { busy, failure, send } = useSending();
  const [text, setText] = useState('');
  const [result, setResult] = useState<string | null>(null);
  const key = useRef(newKey());
  const submit = async (): Promise<void> => {
    if (isOff || busy || text.trim() === '') return;
    setResult(null);
    const isSent = await send(async () => setResult((await onSend(text, key.current)).queued));
    if (!isSent) return;
    key.current = newKey();
    setText('');
  };
  /** What is sent is another message now. */
  const renew = (): void => {
    key.current = newKey();
  };
  const write = (next: string): void => {
    setText(next);
    renew();
  };
  return { text, write, renew, submit, busy, failure, result };
}

/** Whether the key press sends: Enter alone, and not the one that ends the composition of a character. */
export function sends(event: {
  key: string;
  shiftKey: boolean;
  altKey: boolean;
  nativeEvent: { isComposing: boolean };
}): boolean {
  return event.key === 'Enter' && !event.shiftKey && !event.altKey && !event.nativeEvent.isComposing;
}

export function Reply({
  of,
  name,
  keys,
  disabledBecause,
  onSend,
}: {
  /** The key of the worker. */
  of: string;
  name: string;
  /** `a` goes to the field while this is true; null: it has no key. */
  keys: HasKeys | null;
  disabledBecause: string | null;
  onSend: (text: string, key: string) => Promise<{ queued: string }>;
}) {
  const isOff = disabledBecause !== null;
  const { text, write, submit, busy, failure, result } = useDraft(onSend, isOff);
  const field = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  const { has } = useAnswerKeys(of, keys, { a: () => field.current?.focus() });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
      className="flex flex-col gap-2"
    >
      <label htmlFor={id} className="text-small text-muted">
        Reply to <span className="from-outside">{shownText(name)}</span>
      </label>
      <div className="flex items-end gap-2">
        <textarea
          ref={field}
          id={id}
          rows={1}
          value={text}
          maxLength={LONGEST_MESSAGE}
          disabled={isOff}
          title={disabledBecause ?? undefined}
          onChange={({ target }) => write(target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape') event.currentTarget.blur();
            if (!sends(event)) return;
            event.preventDefault();
            void submit();
          }}
          className="field-sizing-content max-h-40 min-h-8 w-full min-w-0 resize-none rounded-control border border-line-strong bg-surface px-2 py-1 text-small text-text max-wide:min-h-11"
        />
        <Button type="submit" loud disabled={isOff || busy || text.trim() === ''} aria-label="Send">
          <SendHorizontal aria-hidden="true" className="size-3.5" />
          {has && <Key>a</Key>}
        </Button>
      </div>
      <span role="status" className="text-muted text-tiny">
        {busy ? 'Sending' : result}
      </span>
      {failure && <Failed error={failure} />}
    </form>
  );
}
