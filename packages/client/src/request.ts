// The request of an operation: its path with the parameters in it, its query, its body.
import type { Operations } from './api-types.ts';

export type Method = keyof Operations;

/** Answered at once, unlike the stream, which never ends. */
export type Path<M extends Method> = Exclude<keyof Operations[M], '/api/events/stream'> & string;

/** Values in an address; one that is undefined is not there. */
export type Values = Readonly<Record<string, string | number | undefined>>;
/** A part that may be left out may be undefined. */
type Operation = { params: Values | undefined; query: Values | undefined; body: unknown; answer: unknown };
export type OperationOf<M extends Method, P extends Path<M>> = Operations[M][P] extends Operation
  ? Operations[M][P]
  : never;

type Part<Name extends string, Given> = undefined extends Given
  ? { [N in Name]?: Given }
  : { [N in Name]: Given };

type Wish<O extends Operation> = Part<'params', O['params']> &
  Part<'query', O['query']> &
  Part<'body', O['body']> & { signal?: AbortSignal | undefined };

/** What a call is given besides its path. */
export type WishOf<O extends Operation> = undefined extends O['params'] & O['query'] & O['body']
  ? [wish?: Wish<O>]
  : [wish: Wish<O>];

/** `addressOf('/api/runs/{run}', { run: 'a/b' })` is `/api/runs/a%2Fb`. */
export function addressOf(path: string, params: Values = {}, query: Values = {}): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const asked = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return asked.length === 0 ? filled : `${filled}?${new URLSearchParams(asked).toString()}`;
}
