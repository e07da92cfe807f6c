// Text and links from outside: shown as plain text, never interpreted.
import type { ReactNode } from 'react';
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
      {children}
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
  if (address === null) return <span className={className}>{children}</span>;
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
      {children}
    </a>
  );
}
