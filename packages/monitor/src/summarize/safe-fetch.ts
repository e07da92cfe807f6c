// The fetch that model SDKs get. A redirect is an error, because the key would be sent to its target; and the size of
// an answer is limited.

const MAX_ANSWER_BYTES = 1024 * 1024;

export function createSafeFetch(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, { ...init, redirect: 'error' });
    if (response.body === null) return response;
    return new Response(response.body.pipeThrough(atMost(MAX_ANSWER_BYTES)), {
      status: response.status,
      statusText: response.statusText,
      headers: response.headers,
    });
  };
}

/** The answer is longer than any answer of a model. */
export class AnswerTooLong extends Error {}

function atMost(limit: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(part, controller) {
      bytes += part.byteLength;
      if (bytes > limit) controller.error(new AnswerTooLong(`more than ${limit} bytes`));
      else controller.enqueue(part);
    },
  });
}
