// Pages of a list with the Link header: by number, and by cursor as deliveries have it.
import type { Answer } from './answer.ts';

const DEFAULT_PAGE = 30;
const LARGEST_PAGE = 100;

/** `url` is the full address that was asked for. */
export function numberedPage<Row>(url: URL, rows: readonly Row[], view: (row: Row) => unknown): Answer {
  const size = pageSize(url);
  const page = Math.max(Number(url.searchParams.get('page') ?? 1) || 1, 1);
  const last = Math.max(Math.ceil(rows.length / size), 1);
  const links = [
    ...(page < last ? [link(url, { page: page + 1 }, 'next'), link(url, { page: last }, 'last')] : []),
    ...(page > 1 ? [link(url, { page: page - 1 }, 'prev'), link(url, { page: 1 }, 'first')] : []),
  ];
  return answer(rows.slice((page - 1) * size, page * size).map(view), links);
}

/** The cursor names the row that the next page starts with. */
export function cursorPage<Row>(
  url: URL,
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  view: (row: Row) => unknown,
): Answer | undefined {
  const size = pageSize(url);
  const cursor = url.searchParams.get('cursor');
  const start = cursor === null ? 0 : rows.findIndex((row) => `v1_${keyOf(row)}` === cursor);
  if (start < 0) return undefined;
  const next = rows[start + size];
  const links = next === undefined ? [] : [link(url, { cursor: `v1_${keyOf(next)}` }, 'next')];
  return answer(rows.slice(start, start + size).map(view), links);
}

function pageSize(url: URL): number {
  const asked = Number(url.searchParams.get('per_page') ?? DEFAULT_PAGE);
  return Math.min(Math.max(Math.floor(asked) || DEFAULT_PAGE, 1), LARGEST_PAGE);
}

function link(url: URL, change: Record<string, string | number>, rel: string): string {
  const target = new URL(url);
  for (const [name, value] of Object.entries(change)) target.searchParams.set(name, String(value));
  return `<${target.href}>; rel="${rel}"`;
}

function answer(body: unknown[], links: string[]): Answer {
  return { status: 200, body, ...(links.length > 0 && { headers: { Link: links.join(', ') } }) };
}
