// The keys that work on every screen, and what they open. The palette is loaded when the page is at rest; what is
// typed before it is there is kept for it.
import { useNavigate } from '@tanstack/react-router';
import { type ComponentType, useCallback, useEffect, useRef, useState } from 'react';
import { Button } from '../parts/button.tsx';
import { isTyping } from './is-typing.ts';
import { KeyMap } from './key-map.tsx';
import { GO_MS, meaningOfKey } from './key-words.ts';
import { onOpenPalette } from './palette-events.ts';

type PaletteProps = { typedBefore: () => string; onClose: () => void };

const LOAD_AFTER_MS = 1_000;

export function Keys() {
  const [open, setOpen] = useState<'palette' | 'key-map' | null>(null);
  const [Palette, setPalette] = useState<ComponentType<PaletteProps> | null>(null);
  const [missing, setMissing] = useState(false);
  const navigate = useNavigate();
  const wentAt = useRef(Number.NEGATIVE_INFINITY);
  /** Null when nobody waits for the palette. */
  const early = useRef<string | null>(null);

  const load = useCallback(async () => {
    try {
      const { Palette: loaded } = await import('./palette.tsx');
      setPalette(() => loaded);
      setMissing(false);
    } catch {
      // The daemon is away. It is said to who asks for the palette, and tried again then.
      setMissing(true);
    }
  }, []);
  const openPalette = useCallback(() => {
    early.current = '';
    void load();
    setOpen('palette');
  }, [load]);
  useEffect(() => onOpenPalette(openPalette), [openPalette]);
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
      const meaning = meaningOfKey(event, { isGoing, isTyping: isTyping(event.target) });
      wentAt.current = meaning?.kind === 'go' ? performance.now() : Number.NEGATIVE_INFINITY;
      // The second key of a pair that leads nowhere must not do what it does alone.
      if (meaning === null) return isGoing ? event.stopImmediatePropagation() : undefined;
      take(event);
      if (meaning.kind === 'to') void navigate({ to: meaning.to });
      else if (meaning.kind === 'palette') openPalette();
      else if (meaning.kind === 'key-map') setOpen('key-map');
    };
    // Before the screens: `g` then `e` goes to the events and acknowledges nothing.
    window.addEventListener('keydown', onKey, { capture: true });
    return () => window.removeEventListener('keydown', onKey, { capture: true });
  }, [navigate, openPalette]);

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
  if (open === 'palette' && Palette === null && missing) return <NotLoaded onClose={close} />;
  return open === 'palette' && Palette !== null && <Palette typedBefore={typedBefore} onClose={close} />;
}

function NotLoaded({ onClose }: { onClose: () => void }) {
  return (
    <div
      role="alert"
      className="fixed top-4 left-1/2 z-50 flex -translate-x-1/2 items-center gap-3 rounded-card border border-line bg-raised px-4 py-2 text-small shadow-float"
    >
      The search could not be loaded: the daemon does not answer.
      <Button onClick={onClose}>Close</Button>
    </div>
  );
}

function take(event: KeyboardEvent): void {
  event.preventDefault();
  event.stopImmediatePropagation();
}
