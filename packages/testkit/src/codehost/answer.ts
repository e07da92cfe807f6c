import type { JsonObject } from '../payloads/examples.ts';
import type { RepoRow } from './cloud.ts';

// An answer of the fake code host before it is sent, and the rejections with the vendor's texts.

/** `text` is sent as it is, and `body` as JSON. */
export type Answer = { status: number; body?: unknown; text?: string; headers?: Record<string, string> };

export class Refusal extends Error {
  readonly answer: Answer;

  constructor(
    status: number,
    message: string,
    more: { errors?: object[]; headers?: Record<string, string> } = {},
  ) {
    super(message);
    this.name = 'Refusal';
    const { errors, headers } = more;
    this.answer = {
      status,
      body: { message, ...(errors && { errors }), documentation_url: 'https://docs.example/rest' },
      ...(headers && { headers }),
    };
  }
}

export function notFound(headers?: Record<string, string>): Refusal {
  return new Refusal(404, 'Not Found', headers && { headers });
}

export function notAdmin(): Refusal {
  return new Refusal(403, 'Must have admin rights to Repository.');
}

export function invalid(message: string, resource = 'Hook'): Refusal {
  return new Refusal(422, 'Validation Failed', { errors: [{ resource, code: 'custom', message }] });
}

/** Integers of any size go out exactly. */
export function toJson(body: unknown): string {
  const marker = /"bigint:(\d+)"/g;
  const text = JSON.stringify(body, (_name, value: unknown) =>
    typeof value === 'bigint' ? `bigint:${value}` : value,
  );
  return text.replaceAll(marker, '$1');
}

export function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d{3}Z$/, 'Z');
}

// One operation of a repository's REST API, and its input.

export type Call = {
  repo: RepoRow;
  /** The matched groups of the route's path. */
  parts: (string | undefined)[];
  url: URL;
  body: JsonObject;
  /** Who calls. */
  login: string;
  /** The address of the API, for the addresses in answers. */
  base: string;
};

export type Route = {
  method: string;
  /** Behind `repos/:owner/:repo/`. */
  path: RegExp;
  /** `hooks` are for admins with the right scope, the rest for everyone who can see the repository. */
  needs: 'hooks' | 'read';
  answer: (call: Call) => Answer | Promise<Answer>;
};

// Pages of a list with the Link header: by number, and by cursor for deliveries.

const DEFAULT_PAGE = 30;
const LARGEST_PAGE = 100;

/** `url` is the full URL of the request. */
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

/** The cursor is the row that the next page starts with. */
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
