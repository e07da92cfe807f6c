import { useNow } from '../live/live.tsx';
import { clockWords, durationWords, exactWords } from './time-words.ts';

/** The age of a time; the tooltip has the exact time. */
export function Age({ at, className }: { at: string | number | null | undefined; className?: string }) {
  const now = useNow();
  if (at === null || at === undefined) return <span className={className}>unknown</span>;
  const time = typeof at === 'number' ? at : Date.parse(at);
  return (
    <time dateTime={new Date(time).toISOString()} title={exactWords(time)} className={className}>
      {now - time < 86_400_000 ? durationWords(Math.max(now - time, 1_000)) : clockWords(time, now)}
    </time>
  );
}
