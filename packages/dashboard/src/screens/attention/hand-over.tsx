import type { AttentionItem } from '@svc/core';
import { Dialog } from 'radix-ui';
import { type FormEvent, type ReactNode, useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { nameOf } from './item-row.tsx';

const field =
  'w-full rounded-control border border-line bg-surface px-2.5 py-1.5 text-small text-text placeholder:text-muted hover:border-line-strong';

/** Asks to whom, and what they should know. */
export function HandOver({
  item,
  open,
  onOpenChange,
  onHandOver,
  children,
}: {
  item: AttentionItem;
  open: boolean;
  onOpenChange: (open: boolean) => void;
  onHandOver: (to: string, note: string) => void;
  children: ReactNode;
}) {
  const [to, setTo] = useState('');
  const [note, setNote] = useState('');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (to.trim() === '') return;
    onOpenChange(false);
    onHandOver(to.trim(), note.trim());
    setTo('');
    setNote('');
  };
  return (
    <Dialog.Root open={open} onOpenChange={onOpenChange}>
      <Dialog.Trigger asChild>{children}</Dialog.Trigger>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-sunken opacity-80" />
        <Dialog.Content
          aria-describedby={undefined}
          className="fixed top-1/2 left-1/2 z-50 w-[min(28rem,calc(100vw-2rem))] -translate-x-1/2 -translate-y-1/2 rounded-card border border-line bg-raised p-5 shadow-float outline-none"
        >
          <form onSubmit={submit} className="flex flex-col gap-3">
            <Dialog.Title className="text-lead">Hand over {nameOf(item)}</Dialog.Title>
            <label className="flex flex-col gap-1 text-small text-muted">
              To whom
              <input
                required
                maxLength={100}
                value={to}
                onChange={(event) => setTo(event.target.value)}
                autoComplete="off"
                className={field}
              />
            </label>
            <label className="flex flex-col gap-1 text-small text-muted">
              What they should know (may be empty)
              <textarea
                rows={3}
                maxLength={1_000}
                value={note}
                onChange={(event) => setNote(event.target.value)}
                className={field}
              />
            </label>
            <p className="text-tiny text-muted">It is written to the log. Nobody is told by svc.</p>
            <div className="flex justify-end gap-2">
              <Dialog.Close asChild>
                <Button quiet>Leave it</Button>
              </Dialog.Close>
              <Button type="submit" loud>
                Hand over
              </Button>
            </div>
          </form>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
