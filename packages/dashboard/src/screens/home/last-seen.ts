// How far this browser has looked. While the page can be seen, the newest line counts as seen; what was seen last
// when it was left is kept, and compared with when somebody comes back.
import { useCallback, useEffect, useRef, useState } from 'react';

const KEY = 'svc.seen';
const WRITE_EVERY_MS = 5_000;
/** Who was away for less has not forgotten. */
const AWAY_MS = 60_000;

/** `at` is the time of the line: a line with the same seq and another time is of another log. */
type Seen = { seq: number; at: string };

function readSeen(): Seen | null {
  const [, seq, at] = /^(\d+) (\S+)$/.exec(localStorage.getItem(KEY) ?? '') ?? [];
  return seq === undefined || at === undefined ? null : { seq: Number(seq), at };
}

function writeSeen({ seq, at }: Seen): void {
  localStorage.setItem(KEY, `${seq} ${at}`);
}

/** What was seen before this visit, until it is dismissed. */
export function useLastSeen(newest: Seen | null): { since: Seen | null; dismiss: () => void } {
  const [since, setSince] = useState(readSeen);
  const now = useRef(newest);
  now.current = newest;
  const isThere = newest !== null;

  useEffect(() => {
    if (!isThere) return undefined;
    let leftAt: number | null = null;
    const keep = (): void => {
      if (now.current !== null) writeSeen(now.current);
    };
    const onVisibility = (): void => {
      if (document.visibilityState === 'hidden') {
        keep();
        leftAt = Date.now();
      } else if (leftAt !== null && Date.now() - leftAt > AWAY_MS) setSince(readSeen());
    };
    if (document.visibilityState === 'visible') keep();
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') keep();
    }, WRITE_EVERY_MS);
    document.addEventListener('visibilitychange', onVisibility);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', onVisibility);
    };
  }, [isThere]);

  const dismiss = useCallback(() => setSince(null), []);
  return { since, dismiss };
}
