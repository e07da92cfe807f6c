// JSON whose large ids stay exact: the code host numbers deliveries with 64 bits, more than a number holds.

type Source = { source?: string };

/** Undefined when it is no JSON. An `id` that a number cannot hold comes as its digits. */
export function parseExactIds(text: string): unknown {
  try {
    return JSON.parse(text, (name, value: unknown, context?: Source) =>
      name === 'id' && typeof value === 'number' && !Number.isSafeInteger(value)
        ? (context?.source ?? value)
        : value,
    );
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
