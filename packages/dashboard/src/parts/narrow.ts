import { useSyncExternalStore } from 'react';

const narrow = matching('(width < 900px)');

/** Whether the page is narrower than the breakpoint `wide` of the theme. */
export function useMatchesNarrow(): boolean {
  return useSyncExternalStore(narrow.subscribe, narrow.isMatching);
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
