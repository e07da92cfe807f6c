// What a client of `svc mcp` may be allowed to do. Each tool needs one scope, and a server is started with some.
import { Failure } from '../../errors.ts';

export const scopes = {
  read: 'see the daemon, the board, events, attention and findings',
  attention: 'acknowledge, put off, hand over and resolve what needs a person',
  findings: 'add a finding to the queue',
  summarize: 'ask a model provider for a summary, which costs money',
} as const;

export type Scope = keyof typeof scopes;

const names = Object.keys(scopes) as Scope[];

/** `read,attention` as a set; an unknown or missing name is an error. */
export function scopesFrom(text: string): ReadonlySet<Scope> {
  const given = text.split(',').map((name) => name.trim());
  const known = given.map((name) => names.find((scope) => scope === name));
  const unknown = given.find((_, index) => known[index] === undefined);
  if (unknown === undefined) return new Set(known.filter((scope) => scope !== undefined));
  throw new Failure(
    'usage',
    `--scopes: there is no scope ${JSON.stringify(unknown)}; there are ${names.join(', ')}.`,
    'For example: svc mcp --scopes read,attention',
  );
}

/** The flag of a server that has one scope more. */
export function flagWith(granted: ReadonlySet<Scope>, wanted: Scope): string {
  return `--scopes ${names.filter((scope) => granted.has(scope) || scope === wanted).join(',')}`;
}
