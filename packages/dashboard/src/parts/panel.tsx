import type { ReactNode } from 'react';
import { classNames } from './class-names.ts';

/** A titled section of a screen. */
export function Panel({
  title,
  aside,
  children,
  className,
  flush = false,
}: {
  title: string;
  aside?: ReactNode;
  children: ReactNode;
  className?: string;
  /** Without padding, for tables and charts. */
  flush?: boolean;
}) {
  return (
    <section
      aria-label={title}
      className={classNames('rounded-card border border-line bg-surface', className)}
    >
      <header className="flex min-h-11 flex-wrap items-center justify-between gap-2 border-line border-b px-4 py-2">
        <h2 className="text-body">{title}</h2>
        {aside}
      </header>
      <div className={flush ? 'overflow-hidden rounded-b-card' : 'p-4'}>{children}</div>
    </section>
  );
}

/** The header of a screen: title, details beside it, and controls. */
export function ScreenHead({
  title,
  children,
  aside,
}: {
  title: ReactNode;
  children?: ReactNode;
  aside?: ReactNode;
}) {
  return (
    <header className="mb-4 flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
      <div className="flex min-w-0 flex-wrap items-baseline gap-x-3 gap-y-1">
        <h1 className="min-w-0 text-title">{title}</h1>
        {children}
      </div>
      {aside && <div className="flex flex-wrap items-center gap-2 max-wide:w-full">{aside}</div>}
    </header>
  );
}
