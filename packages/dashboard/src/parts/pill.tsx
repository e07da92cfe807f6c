// A state label on the soft background of its meaning.
import type { ReactNode } from 'react';
import type { Meaning } from 'svc-monitor/src/kernel/board/label.ts';
import { classNames } from './class-names.ts';
import { backgroundOf, edgeOf, markOf, textOf } from './meaning.ts';

export function Pill({
  meaning,
  children,
  title,
}: {
  meaning: Meaning;
  children: ReactNode;
  title?: string;
}) {
  return (
    <span
      title={title}
      className={classNames(
        'inline-flex max-w-full items-center gap-1.5 rounded-full px-2 py-0.5 text-tiny font-medium',
        backgroundOf[meaning],
        textOf[meaning],
        meaning === 'unknown' && classNames('border', edgeOf.unknown),
      )}
    >
      <Dot meaning={meaning} />
      <span className="truncate">{children}</span>
    </span>
  );
}

/** A dot beside a label, never alone. Unknown is a ring, so it differs without colour. */
export function Dot({ meaning }: { meaning: Meaning }) {
  return (
    <span
      aria-hidden="true"
      className={classNames(
        'size-2 shrink-0 rounded-full',
        meaning === 'unknown' ? classNames('border', edgeOf.unknown) : markOf[meaning],
      )}
    />
  );
}
