// A message to an agent, with images where it takes them. The agent's own commands and the files of its worktree are
// completed while it is written.
import { SendHorizontal } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useId, useRef, useState } from 'react';
import { AgentText, shownText } from '../../parts/agent-text.tsx';
import { Button } from '../../parts/button.tsx';
import { classNames } from '../../parts/class-names.ts';
import { Failed } from '../../parts/states.tsx';
import { LONGEST_MESSAGE, sends, useDraft } from '../answer/reply.tsx';
import { ImageButton, ImageList, type SentImage, useImages } from './attached-images.tsx';
import { type Completion, completed, type Token, tokenAt } from './completions.ts';

export function Composer({
  waiting,
  isBusy,
  disabledBecause,
  takesImages,
  useCompletions,
  settings,
  onSend,
}: {
  waiting: readonly string[];
  isBusy: boolean;
  disabledBecause: string | null;
  takesImages: boolean;
  /** What can replace the token now. */
  useCompletions: (token: Token | null) => readonly Completion[];
  settings: ReactNode;
  onSend: (text: string, key: string, images: readonly SentImage[]) => Promise<{ queued: string }>;
}) {
  const draft = useDraft(async (written, key) => {
    const sent = await onSend(written, key, attached.sent());
    attached.clear();
    return sent;
  }, disabledBecause !== null);
  const { text, write, submit, busy, failure, result } = draft;
  const attached = useImages(draft.renew);
  const canAttach = takesImages && disabledBecause === null && !busy;
  /** Whether there were any. */
  const attach = ({ files }: DataTransfer): boolean => {
    if (!canAttach || files.length === 0) return false;
    void attached.add([...files]);
    return true;
  };
  const [caret, setCaret] = useState(0);
  const [active, setActive] = useState(0);
  /** Where the list was closed with Esc: it opens again for another token. */
  const [closedAt, setClosedAt] = useState<number | null>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  const token = tokenAt(text, caret);
  const found = useCompletions(token);
  const shown = token === null || closedAt === token.start ? [] : found;
  const at = Math.min(active, shown.length - 1);
  const moveTo = (next: number, from: string): void => {
    setCaret(next);
    setActive(0);
    if (tokenAt(from, next)?.start !== closedAt) setClosedAt(null);
  };
  const take = (completion: Completion): void => {
    if (token === null) return;
    const next = completed(text, token, completion);
    write(next.text);
    moveTo(next.caret, next.text);
    requestAnimationFrame(() => {
      field.current?.focus();
      field.current?.setSelectionRange(next.caret, next.caret);
    });
  };
  /** Whether the key was for the list. */
  const inList = (event: KeyboardEvent): boolean => {
    const chosen = shown[at];
    if (chosen === undefined || event.nativeEvent.isComposing) return false;
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (by !== 0) setActive((at + by + shown.length) % shown.length);
    else if (event.key === 'Escape') setClosedAt(token?.start ?? null);
    else if (event.key === 'Tab' || sends(event)) take(chosen);
    else return false;
    return true;
  };
  return (
    <form
      aria-label="Send a message"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
      onDragOver={(event) => {
        if (canAttach) event.preventDefault();
      }}
      onDrop={(event) => {
        if (attach(event.dataTransfer)) event.preventDefault();
      }}
      className="relative flex flex-col gap-2 border-line border-t px-4 py-3"
    >
      {waiting.length > 0 && (
        <ul aria-label="Queued messages" className="flex flex-col gap-1">
          {waiting.map((message, index) => (
            <li
              // biome-ignore lint/suspicious/noArrayIndexKey: a queue, and messages may be equal.
              key={index}
              className="flex gap-3 rounded-control border border-line-strong border-dashed px-3 py-1.5 text-small"
            >
              <span className="shrink-0 text-muted">Queued</span>
              <AgentText text={message.slice(0, 1_000)} className="max-h-24 overflow-hidden" />
            </li>
          ))}
        </ul>
      )}
      <label htmlFor={id} className="text-muted text-small">
        Send a message
      </label>
      {shown.length > 0 && (
        <List
          id={`${id}-list`}
          label={token?.kind === 'command' ? 'Commands of the agent' : 'Files of the worktree'}
          completions={shown}
          active={at}
          onTake={take}
        />
      )}
      <textarea
        ref={field}
        id={id}
        rows={2}
        value={text}
        maxLength={LONGEST_MESSAGE}
        disabled={disabledBecause !== null}
        title={disabledBecause ?? undefined}
        aria-autocomplete="list"
        aria-controls={shown.length > 0 ? `${id}-list` : undefined}
        aria-activedescendant={shown.length > 0 ? `${id}-list-${at}` : undefined}
        onChange={({ target }) => {
          write(target.value);
          moveTo(target.selectionStart, target.value);
        }}
        onSelect={({ currentTarget }) => {
          if (currentTarget.selectionStart !== caret) moveTo(currentTarget.selectionStart, text);
        }}
        onPaste={(event) => {
          // A part of a document is copied as text and as a picture of it: the text is meant.
          const hasText = event.clipboardData.types.includes('text/plain');
          if (!hasText && attach(event.clipboardData)) event.preventDefault();
        }}
        onKeyDown={(event) => {
          if (!inList(event)) {
            if (!sends(event)) return;
            void submit();
          }
          event.preventDefault();
        }}
        className="field-sizing-content max-h-60 min-h-16 w-full resize-y rounded-control border border-line-strong bg-surface px-3 py-2 text-body text-text"
      />
      <ImageList {...attached} />
      {failure && <Failed error={failure} />}
      <div className="flex flex-wrap items-center gap-3">
        <Button type="submit" loud disabled={disabledBecause !== null || busy || text.trim() === ''}>
          <SendHorizontal aria-hidden="true" className="size-3.5" />
          {busy ? 'Sending' : 'Send'}
        </Button>
        {takesImages && <ImageButton disabled={!canAttach} onFiles={(files) => void attached.add(files)} />}
        <span role="status" className="text-muted text-small">
          {result ??
            (isBusy
              ? 'The agent is busy: it gets the message when it is idle, or at once if it can.'
              : 'Enter sends it, Shift+Enter starts a line. / completes its commands, @ files.')}
        </span>
      </div>
      {settings}
    </form>
  );
}

function List({
  id,
  label,
  completions,
  active,
  onTake,
}: {
  id: string;
  label: string;
  completions: readonly Completion[];
  active: number;
  onTake: (completion: Completion) => void;
}) {
  return (
    <ul
      id={id}
      role="listbox"
      aria-label={label}
      className="flex min-w-0 flex-col overflow-hidden rounded-control border border-line bg-raised py-1 text-small shadow-float"
    >
      {completions.map((completion, index) => (
        <li
          key={completion.value}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === active}
          // The field keeps the focus.
          onPointerDown={(event) => {
            event.preventDefault();
            onTake(completion);
          }}
          className={classNames(
            'flex min-w-0 cursor-pointer items-baseline gap-3 px-3 py-1 max-wide:min-h-11 max-wide:items-center',
            index === active && 'bg-sunken',
          )}
        >
          <span className="from-outside max-w-full shrink-0 truncate font-mono text-ink text-tiny">
            {shownText(completion.name.slice(0, 200))}
          </span>
          <span className="from-outside min-w-0 truncate text-muted text-tiny">
            {shownText(completion.description.slice(0, 200)).replaceAll('\n', ' ')}
          </span>
        </li>
      ))}
    </ul>
  );
}
