// Pages of a list, as the tracker gives them: newest first, 50 unless asked otherwise, at most 250,
// with cursors that stay right while rows change.
import { Refusal } from './refusal.ts';

const DEFAULT_PAGE = 50;
const LARGEST_PAGE = 250;

export type PageArguments = {
  first?: number | null;
  after?: string | null;
  last?: number | null;
  before?: string | null;
  includeArchived?: boolean | null;
  orderBy?: 'createdAt' | 'updatedAt' | null;
};

type Sortable = { id: string; createdAt: string; updatedAt: string; archivedAt: string | null };

export type Connection<View> = {
  nodes: View[];
  pageInfo: {
    hasNextPage: boolean;
    hasPreviousPage: boolean;
    startCursor: string | null;
    endCursor: string | null;
  };
};

/** One page of rows. `pageLimit` makes pages smaller than asked for, as a busy server may. */
export function connectionOf<R extends Sortable, View>(
  rows: readonly R[],
  page: PageArguments,
  pageLimit: number,
  view: (row: R) => View,
): Connection<View> {
  const size = page.last ?? page.first ?? DEFAULT_PAGE;
  if (size < 1 || size > LARGEST_PAGE) throw new Refusal('INPUT_ERROR', 'Argument Validation Error');
  const place = (row: R): string => `${row[page.orderBy ?? 'createdAt']}|${row.id}`;
  const all = rows
    .filter((row) => page.includeArchived === true || row.archivedAt === null)
    .toSorted((one, other) => (place(one) < place(other) ? 1 : -1));
  const [after, before] = [placeAt(page.after), placeAt(page.before)];
  const within = all
    .filter((row) => after === undefined || place(row) < after)
    .filter((row) => before === undefined || place(row) > before);
  const count = Math.min(size, pageLimit);
  const shown = typeof page.last !== 'number' ? within.slice(0, count) : within.slice(-count);
  const [first, last] = [shown[0], shown.at(-1)];
  return {
    nodes: shown.map(view),
    pageInfo: {
      hasNextPage: last !== undefined && all.at(-1) !== last,
      hasPreviousPage: first !== undefined && all[0] !== first,
      startCursor: first ? cursorAt(place(first)) : null,
      endCursor: last ? cursorAt(place(last)) : null,
    },
  };
}

function cursorAt(place: string): string {
  return Buffer.from(place).toString('base64url');
}

function placeAt(cursor: string | null | undefined): string | undefined {
  if (cursor === null || cursor === undefined) return undefined;
  const place = Buffer.from(cursor, 'base64url').toString('utf8');
  if (!place.includes('|')) throw new Refusal('INPUT_ERROR', 'The cursor is not valid');
  return place;
}
