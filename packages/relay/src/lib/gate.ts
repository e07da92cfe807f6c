// Lets a fixed number of works run at once; the others wait in line.
export type Gate = <T>(work: () => Promise<T>) => Promise<T>;

export function createGate(atOnce: number): Gate {
  const line: (() => void)[] = [];
  let running = 0;

  return async (work) => {
    if (running >= atOnce) await new Promise<void>((resolve) => line.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      // Whoever is next takes over this one's place.
      const next = line.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
