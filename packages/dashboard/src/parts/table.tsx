// A table: rows of 36 px, horizontal scrolling inside its own frame, sortable columns.
import { ArrowDown, ArrowUp } from 'lucide-react';
import type { ReactNode } from 'react';
import { classNames } from './class-names.ts';

export function Table({
  label,
  head,
  children,
  className,
}: {
  label: string;
  head: ReactNode;
  children: ReactNode;
  className?: string;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a frame that scrolls must be reachable by keyboard.
    <section aria-label={label} tabIndex={0} className={classNames('overflow-x-auto', className)}>
      <table className="w-full border-collapse text-left text-small">
        <thead>
          <tr className="border-line border-b text-tiny text-muted">{head}</tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}

export function Column({
  children,
  number = false,
  sort,
  onSort,
  className,
}: {
  children: ReactNode;
  number?: boolean;
  className?: string;
  /** The current sort order; null if another column is sorted. */
  sort?: 'ascending' | 'descending' | null;
  onSort?: () => void;
}) {
  const Arrow = sort === 'ascending' ? ArrowUp : ArrowDown;
  return (
    <th
      scope="col"
      aria-sort={onSort === undefined ? undefined : (sort ?? 'none')}
      className={classNames(
        'h-9 px-3 font-medium whitespace-nowrap first:pl-4 last:pr-4',
        number && 'text-right',
        className,
      )}
    >
      {onSort === undefined ? (
        children
      ) : (
        <button
          type="button"
          onClick={onSort}
          className={classNames(
            'inline-flex items-center gap-1 font-medium hover:text-ink',
            sort && 'text-ink',
          )}
        >
          {children}
          <Arrow aria-hidden="true" className={classNames('size-3', !sort && 'opacity-0')} />
        </button>
      )}
    </th>
  );
}

export function Cell({
  children,
  number = false,
  className,
}: {
  children: ReactNode;
  number?: boolean;
  className?: string;
}) {
  return (
    <td
      className={classNames(
        'h-9 px-3 py-1.5 first:pl-4 last:pr-4',
        number && 'text-right whitespace-nowrap tabular-nums',
        className,
      )}
    >
      {children}
    </td>
  );
}

export const rowClass = 'border-line border-b last:border-b-0';
