// Opens the command palette from anywhere in the page.
const OPEN = 'svc:palette';

export function openPalette(): void {
  window.dispatchEvent(new Event(OPEN));
}

export function onOpenPalette(listener: () => void): () => void {
  window.addEventListener(OPEN, listener);
  return () => window.removeEventListener(OPEN, listener);
}
