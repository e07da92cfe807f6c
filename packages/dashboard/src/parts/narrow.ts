import { useSyncExternalStore } from 'react';

const narrow = matching('(width < 900px)');
const full = matching('(width >= 1200px)');

/** Whether the page is narrower than the breakpoint `wide` of the theme. */
export function useMatchesNarrow(): boolean {
  return useSyncExternalStore(narrow.subscribe, narrow.isMatching);
}

/** Whether the page has at least the width `full` of the theme. */
export function useMatchesFull(): boolean {
  return useSyncExternalStore(full.subscribe, full.isMatching);
}

function matching(query: string) {
  const media = globalThis.matchMedia?.(query);
  return {
    isMatching: (): boolean => media.matches,
    subscribe: (listener: () => void): (() => void) => {
      media.addEventListener('change', listener);
      return () => media.removeEventListener('change', listener);
    },
  };
}
