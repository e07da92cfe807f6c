// What was just done with an item, with Undo; or why it was not resolved, with Snooze.
import { X } from 'lucide-react';
import { useEffect } from 'react';
import type { AttentionItem } from 'svc-monitor/src/features/attention/entity.ts';
import { Button } from '../../parts/button.tsx';
import { Key } from '../../parts/key.tsx';
import { type Item, nameOf } from './item-row.tsx';
import type { DoneAction } from './use-item-actions.ts';

/** Long enough to read it and to press a key. */
const SHOWN_MS = 12_000;

const words: Record<DoneAction['action'], string> = {
  ack: 'Acknowledged',
  snooze: 'Snoozed',
  'hand-over': 'Handed over',
  resolve: 'Resolved',
};

export function ActionNotice({
  done,
  refused,
  onUndo,
  onSnooze,
  onClose,
}: {
  done: DoneAction | null;
  refused: Item | null;
  onUndo: (item: AttentionItem) => void;
  onSnooze: (item: Item) => void;
  onClose: () => void;
}) {
  const shown = refused ?? done;
  useEffect(() => {
    if (shown === null) return undefined;
    const timer = setTimeout(onClose, SHOWN_MS);
    return () => clearTimeout(timer);
    // Only another action starts the time again.
    // biome-ignore lint/correctness/useExhaustiveDependencies: the callback is another one in each render.
  }, [shown]);
  return (
    <div
      role="status"
      className="pointer-events-none fixed inset-x-4 bottom-6 z-30 flex justify-center max-wide:bottom-18"
    >
      {shown !== null && (
        <div className="pointer-events-auto flex max-w-[36rem] flex-wrap items-center gap-x-3 gap-y-1 rounded-card border border-line bg-raised py-2 pr-2 pl-4 text-small text-ink shadow-float">
          {refused !== null ? (
            <>
              <span className="min-w-0">{nameOf(refused)} is not resolved: its cause still exists.</span>
              <Button onClick={() => onSnooze(refused)}>Snooze</Button>
            </>
          ) : (
            done !== null && (
              <>
                <span className="min-w-0">
                  {words[done.action]}: {nameOf(done.item)}
                </span>
                <Button onClick={() => onUndo(done.item)}>
                  Undo <Key>u</Key>
                </Button>
              </>
            )
          )}
          <Button quiet aria-label="Close" onClick={onClose}>
            <X aria-hidden="true" className="size-4" />
          </Button>
        </div>
      )}
    </div>
  );
}
