// What `fetch` leaves to its callers: a bound on the answer's size, and the reason of a failure.

/** The bytes of an answer; undefined when there are more. */
export async function readAnswer(response: Response, maxBytes: number): Promise<Buffer | undefined> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of response.body ?? []) {
    length += part.length;
    // Leaving the loop closes the connection.
    if (length > maxBytes) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts, length);
}

/** `fetch` itself only says "fetch failed"; the cause says why. */
export function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? error.cause : error;
}
