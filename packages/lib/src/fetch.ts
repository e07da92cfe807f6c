// What `fetch` leaves to its callers: a limit for the answer's size, and the reason for a failure.

/** The bytes of an answer; undefined if there are more. */
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

/** `fetch` itself only reports "fetch failed"; the reason is in the cause. */
export function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? error.cause : error;
}
