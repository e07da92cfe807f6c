// The operations as the published package declares them: written out in full, so reading them needs neither the
// daemon's schemas nor zod. Only the declaration of this file is used, instead of operations.ts (build.ts).
import type * as source from './operations.ts';

/** The compiler writes out a type without a name. */
type Written<Type> = Type extends object
  ? Type extends infer Whole
    ? { [Name in keyof Whole]: Written<Whole[Name]> }
    : never
  : Type;
const written = <Type>(): Written<Type> => {
  throw new Error('only its type is used');
};

const operations = () => written<source.Operations>();
const eventLine = () => written<source.EventLine>();

/** Every operation by method and path. */
export type Operations = ReturnType<typeof operations>;
/** One event, as written in the log. */
export type EventLine = ReturnType<typeof eventLine>;
