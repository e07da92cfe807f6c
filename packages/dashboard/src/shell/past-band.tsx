// Says on every screen that a past moment is looked at, and leads back to now.
import { Link, useLocation } from '@tanstack/react-router';
import { History } from 'lucide-react';
import { useBoard, useNow } from '../live/live.tsx';
import { timeOfMoment } from '../live/moment.ts';
import { CopyButton } from '../parts/button.tsx';
import { clockWords, durationWords, exactWords } from '../parts/time-words.ts';
import { linkTo } from './link-to.ts';

export function PastBand() {
  const { board, moment, settling, failure } = useBoard();
  const { pathname, search } = useLocation();
  if (moment === null) return null;
  const time = timeOfMoment(settling ? null : moment, board.at);
  return (
    <div
      role="status"
      className="sticky top-0 z-20 flex flex-wrap items-center gap-x-4 gap-y-1 bg-ink px-6 py-1.5 text-small text-surface max-wide:px-4"
    >
      <History aria-hidden="true" className="size-4 shrink-0" />
      <span className="font-medium" title={time === null ? undefined : exactWords(time)}>
        {failure !== null ? `There is no board of ${moment}` : <PastWords time={time} />}
      </span>
      <span className="ml-auto flex items-center gap-1 [&_button:hover]:bg-transparent [&_button:hover]:underline [&_button]:text-surface">
        <CopyButton text={linkTo(pathname, search, time)} label="Copy link" />
        <Link
          to="."
          search={(before) => ({ ...before, at: undefined })}
          className="rounded-control border border-current px-2.5 py-1 font-medium hover:underline focus-visible:outline-surface"
        >
          Back to now
        </Link>
      </span>
    </div>
  );
}

/** The day is named unless it is today. */
function PastWords({ time }: { time: number | null }) {
  const now = useNow();
  if (time === null) return 'You look at the past';
  return `You look at ${clockWords(time, now)}, ${durationWords(now - time)} ago`;
}
