import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { classNames } from './class-names.ts';

/** A link to the event that proves a fact. */
export function EventLink({
  seq,
  children,
  className,
}: {
  seq: number;
  children?: ReactNode;
  className?: string;
}) {
  return (
    <Link
      to="/events"
      search={{ seq: String(seq) }}
      aria-label={`Event ${seq}`}
      className={classNames(
        'font-mono text-tiny whitespace-nowrap text-muted underline decoration-line-strong underline-offset-2 hover:text-ink',
        className,
      )}
    >
      {children ?? `#${seq}`}
    </Link>
  );
}
