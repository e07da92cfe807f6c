// A state in a word, on the quiet ground of its meaning.
import type { ReactNode } from 'react';
import { classNames } from './class-names.ts';
import { edgeOf, groundOf, type Meaning, markOf, textOf } from './meaning.ts';

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
        groundOf[meaning],
        textOf[meaning],
        meaning === 'unknown' && classNames('border', edgeOf.unknown),
      )}
    >
      <Dot meaning={meaning} />
      <span className="truncate">{children}</span>
    </span>
  );
}

/** A mark beside a word; it never stands alone. Unknown is a ring, so that it differs without colour. */
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
