import { useNow } from '../live/live.tsx';
import { clockWords, durationWords, exactWords } from './format.ts';

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

const DAY = 86_400_000;

/** `4 min ago`; a date if older than a day: `9 Nov, 14:05`; `unknown` for null. */
export function Ago({ at, className }: { at: string | number | null; className?: string }) {
  const isOld = useIsOld(at ?? 0);
  return (
    <span className={className}>
      <Age at={at} />
      {!isOld && ' ago'}
    </span>
  );
}

/** `for 4 min`; a date if older than a day: `since 9 Nov, 14:05`. */
export function For({ at, className }: { at: string | number; className?: string }) {
  const isOld = useIsOld(at);
  return (
    <span className={className}>
      {isOld ? 'since ' : 'for '}
      <Age at={at} />
    </span>
  );
}

function useIsOld(at: string | number): boolean {
  return useNow() - (typeof at === 'number' ? at : Date.parse(at)) >= DAY;
}
