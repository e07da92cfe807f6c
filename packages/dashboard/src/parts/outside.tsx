// Text and links from outside: shown as plain text, never interpreted, with hidden characters written out.
import type { ReactNode } from 'react';
import { shownText } from './agent-text.tsx';
import { classNames } from './class-names.ts';

export function OutsideText({
  children,
  className,
}: {
  children: string | null | undefined;
  className?: string;
}) {
  return (
    <bdi dir="auto" className={classNames('from-outside', className)}>
      {children && shownText(children)}
    </bdi>
  );
}

/** The URL if it is safe to follow. `javascript:` and similar schemes are not. */
export function safeAddress(address: string | null | undefined): string | null {
  if (address === null || address === undefined || !URL.canParse(address)) return null;
  return /^https?:$/.test(new URL(address).protocol) ? address : null;
}

export function OutsideLink({
  href,
  children,
  className,
}: {
  href: string | null | undefined;
  children: ReactNode;
  className?: string;
}) {
  const address = safeAddress(href);
  const shown = typeof children === 'string' ? shownText(children) : children;
  if (address === null) return <span className={className}>{shown}</span>;
  return (
    <a
      href={address}
      target="_blank"
      rel="noopener noreferrer"
      className={classNames(
        'underline decoration-line-strong underline-offset-2 hover:decoration-current',
        className,
      )}
    >
      {shown}
    </a>
  );
}
