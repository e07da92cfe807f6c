// The keyboard shortcuts of every screen, and what they open. The palette is loaded when the page is idle; what is
// typed before it has loaded is kept for it.
import { useNavigate } from '@tanstack/react-router';
import { Dialog } from 'radix-ui';
import { type ComponentType, useCallback, useEffect, useRef, useState } from 'react';
import { useDisabledBecause } from '../live/live.tsx';
import { Button } from '../parts/button.tsx';
import { isTyping } from '../parts/use-keys.ts';
import { onNewTask } from '../screens/start/new-task.tsx';
import { StartDialog } from '../screens/start/start-dialog.tsx';
import { screenList } from './link-to.ts';

export type KeyPress = { key: string; ctrlKey: boolean; metaKey: boolean; altKey: boolean };
export type KeyMeaning =
  | { kind: 'palette' }
  | { kind: 'key-map' }
  | { kind: 'new-task' }
  /** The first of two keys. */
  | { kind: 'go' }
  | { kind: 'to'; to: string };

/** How long the second key may take. */
const GO_MS = 1_500;

/** `isGoing`: `g` was pressed just before. `inField`: a field has focus, so letters are typed. */
export function meaningOfKey(
  { key, ctrlKey, metaKey, altKey }: KeyPress,
  { isGoing, inField }: { isGoing: boolean; inField: boolean },
): KeyMeaning | null {
  if ((ctrlKey || metaKey) && !altKey && key.toLowerCase() === 'k') return { kind: 'palette' };
  if (inField || ctrlKey || metaKey || altKey) return null;
  if (isGoing) {
    const screen = screenList.find(({ keys }) => keys.some((one) => one === key));
    return screen === undefined ? null : { kind: 'to', to: screen.to };
  }
  if (key === '?') return { kind: 'key-map' };
  if (key === 'n') return { kind: 'new-task' };
  return key === 'g' ? { kind: 'go' } : null;
}

const groups: { title: string; keys: [keys: string[], what: string][] }[] = [
  {
    title: 'Everywhere',
    keys: [
      [['Ctrl', 'K'], 'Search and commands'],
      [['n'], 'New task'],
      [['?'], 'Keyboard shortcuts'],
      ...screenList.map(({ keys, name }): [string[], string] => [['g', keys.join(' or ')], name]),
    ],
  },
  {
    title: 'Lists',
    keys: [
      [['j'], 'Next'],
      [['k'], 'Previous'],
      [['Enter'], 'Open'],
    ],
  },
  {
    title: 'Answer an agent (selected item or card, else the notice)',
    keys: [
      [['a'], 'Allow once, or write the answer'],
      [['x'], 'Reject once, or decline'],
    ],
  },
  {
    title: 'Attention',
    keys: [
      [['e'], 'Acknowledge'],
      [['s'], 'Snooze'],
      [['h'], 'Hand over'],
      [['r'], 'Resolve'],
      [['u'], 'Undo'],
    ],
  },
  {
    title: 'Time',
    keys: [
      [['←'], 'Back, on the time bar'],
      [['→'], 'Forward'],
      [['End'], 'Back to live'],
    ],
  },
];

function KeyMap({ onClose }: { onClose: () => void }) {
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-sunken opacity-80" />
        <Dialog.Content
          aria-describedby={undefined}
          className="fixed top-1/2 left-1/2 z-50 max-h-[85dvh] w-[min(40rem,calc(100vw-2rem))] -translate-x-1/2 -translate-y-1/2 overflow-y-auto rounded-card border border-line bg-raised p-5 shadow-float outline-none"
        >
          <Dialog.Title className="mb-4 text-lead">Keyboard shortcuts</Dialog.Title>
          <div className="gap-x-8 wide:columns-2">
            {groups.map(({ title, keys }) => (
              <section key={title} className="mb-5 break-inside-avoid">
                <h3 className="mb-1 text-small">{title}</h3>
                <dl className="text-small">
                  {keys.map(([names, what]) => (
                    <div key={what} className="flex items-center justify-between gap-4 py-1">
                      <dt className="order-2 flex shrink-0 gap-1">
                        {names.map((name) => (
                          <kbd
                            key={name}
                            className="min-w-6 rounded-control border border-line bg-sunken px-1.5 text-center text-tiny text-text"
                          >
                            {name}
                          </kbd>
                        ))}
                      </dt>
                      <dd className="text-muted">{what}</dd>
                    </div>
                  ))}
                </dl>
              </section>
            ))}
          </div>
          <p className="text-tiny text-muted">
            Shortcuts are off while a field has focus. Press Esc to close.
          </p>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

type PaletteProps = { typedBefore: () => string; onClose: () => void };

const LOAD_AFTER_MS = 1_000;

export function Keys() {
  const [open, setOpen] = useState<'palette' | 'key-map' | 'new-task' | null>(null);
  const [Palette, setPalette] = useState<ComponentType<PaletteProps> | null>(null);
  const [missing, setMissing] = useState(false);
  const navigate = useNavigate();
  const wentAt = useRef(Number.NEGATIVE_INFINITY);
  /** Null unless the palette is being opened. */
  const early = useRef<string | null>(null);

  const load = useCallback(async () => {
    try {
      const { Palette: loaded } = await import('./palette.tsx');
      setPalette(() => loaded);
      setMissing(false);
    } catch {
      // The daemon is not reachable. Shown, and tried again, when the palette is opened.
      setMissing(true);
    }
  }, []);
  const show = useCallback(() => {
    early.current = '';
    void load();
    setOpen('palette');
  }, [load]);
  const disabledBecause = useDisabledBecause();
  const canStart = useRef(false);
  canStart.current = disabledBecause === null;
  useEffect(() => onOpenPalette(show), [show]);
  useEffect(() => onNewTask(() => setOpen('new-task')), []);
  useEffect(() => {
    const timer = setTimeout(() => void load(), LOAD_AFTER_MS);
    return () => clearTimeout(timer);
  }, [load]);

  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.defaultPrevented) return;
      const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
      if (early.current !== null && isPlain && event.key.length === 1) {
        early.current += event.key;
        take(event);
        return;
      }
      const isGoing = performance.now() - wentAt.current < GO_MS;
      const meaning = meaningOfKey(event, { isGoing, inField: isTyping(event.target) });
      wentAt.current = meaning?.kind === 'go' ? performance.now() : Number.NEGATIVE_INFINITY;
      // An unknown key after `g` must not do what it does alone.
      if (meaning === null) return isGoing ? event.stopImmediatePropagation() : undefined;
      take(event);
      if (meaning.kind === 'to') void navigate({ to: meaning.to });
      else if (meaning.kind === 'palette') show();
      else if (meaning.kind === 'key-map') setOpen('key-map');
      else if (meaning.kind === 'new-task' && canStart.current) setOpen('new-task');
    };
    // Before the screens' own keys: `g` then `e` goes to the events and acknowledges nothing.
    window.addEventListener('keydown', onKey, { capture: true });
    return () => window.removeEventListener('keydown', onKey, { capture: true });
  }, [navigate, show]);

  const close = useCallback(() => {
    early.current = null;
    setOpen(null);
  }, []);
  const typedBefore = useCallback(() => {
    const typed = early.current ?? '';
    early.current = null;
    return typed;
  }, []);
  if (open === 'key-map') return <KeyMap onClose={close} />;
  if (open === 'new-task') return <StartDialog onClose={close} />;
  if (open === 'palette' && Palette === null && missing) return <NotLoaded onClose={close} />;
  return open === 'palette' && Palette !== null && <Palette typedBefore={typedBefore} onClose={close} />;
}

function NotLoaded({ onClose }: { onClose: () => void }) {
  return (
    <div
      role="alert"
      className="fixed top-4 left-1/2 z-50 flex -translate-x-1/2 items-center gap-3 rounded-card border border-line bg-raised px-4 py-2 text-small shadow-float"
    >
      Search could not be loaded: the daemon is not responding.
      <Button onClick={onClose}>Close</Button>
    </div>
  );
}

function take(event: KeyboardEvent): void {
  event.preventDefault();
  event.stopImmediatePropagation();
}

// Opens the command palette from anywhere in the page.
const OPEN = 'svc:palette';

export function openPalette(): void {
  window.dispatchEvent(new Event(OPEN));
}

function onOpenPalette(listener: () => void): () => void {
  window.addEventListener(OPEN, listener);
  return () => window.removeEventListener(OPEN, listener);
}
