// Waiting for something, but not for ever.

const timeIsUp = Symbol('time is up');

/** What the work gives; what `late` gives, or throws, when the work takes longer. The work itself goes on. */
export async function within<T, Late>(
  work: Promise<T>,
  milliseconds: number,
  late: () => Late,
): Promise<T | Late> {
  const { promise, resolve } = Promise.withResolvers<typeof timeIsUp>();
  const timer = setTimeout(resolve, milliseconds, timeIsUp);
  try {
    const first = await Promise.race([work, promise]);
    return first === timeIsUp ? late() : first;
  } finally {
    clearTimeout(timer);
  }
}
