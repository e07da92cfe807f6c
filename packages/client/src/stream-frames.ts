// The frames of a stream of server-sent events, as the daemon writes them: fields on lines, an empty line between
// frames, lines that begin with a colon to show that it is alive.

export type StreamFrame = { event: string | undefined; id: string | undefined; data: string };

/** `heard` is called for whatever arrives, a frame or not. */
export async function* framesIn(
  body: ReadableStream<Uint8Array>,
  heard: () => void = () => undefined,
): AsyncGenerator<StreamFrame> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      heard();
      rest += decoder.decode(value, { stream: true });
      const whole = rest.split('\n\n');
      rest = whole.pop() ?? '';
      for (const text of whole) {
        const frame = frameIn(text);
        if (frame !== undefined) yield frame;
      }
    }
  } finally {
    // Whoever stops reading lets go of the connection; one that broke has nothing left to cancel.
    await reader.cancel().catch(() => undefined);
  }
}

/** Undefined for one that carries nothing. */
function frameIn(text: string): StreamFrame | undefined {
  const fields = new Map<string, string>();
  for (const line of text.split('\n')) {
    const colon = line.indexOf(':');
    if (colon <= 0) continue;
    const name = line.slice(0, colon);
    const value = line.slice(colon + 1).replace(/^ /, '');
    const before = fields.get(name);
    fields.set(name, before === undefined || name !== 'data' ? value : `${before}\n${value}`);
  }
  const data = fields.get('data');
  return data === undefined ? undefined : { event: fields.get('event'), id: fields.get('id'), data };
}
