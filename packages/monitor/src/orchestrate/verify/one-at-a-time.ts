// Work that waits for the work before it.

export type Gate = <T>(work: () => Promise<T>) => Promise<T>;

/** One piece of work at a time, in the order in which it came. */
export function oneAtATime(): Gate {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work);
    last = next.catch(() => undefined);
    return next;
  };
}
