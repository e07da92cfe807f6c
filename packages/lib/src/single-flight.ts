// Work that is not started again while it is running.

/** Starts the work, or joins the current run. */
export function singleFlight<Given extends unknown[], T>(
  work: (...given: Given) => Promise<T>,
): (...given: Given) => Promise<T> {
  let running: Promise<T> | undefined;
  return (...given) => {
    running ??= work(...given).finally(() => {
      running = undefined;
    });
    return running;
  };
}

/** The same for each key. */
export function createFlights<T>(): (key: string, work: () => Promise<T>) => Promise<T> {
  const running = new Map<string, Promise<T>>();
  return (key, work) => {
    const known = running.get(key);
    if (known !== undefined) return known;
    const flight = work().finally(() => running.delete(key));
    running.set(key, flight);
    return flight;
  };
}
