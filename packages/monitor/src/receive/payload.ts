// From raw bytes to a payload: JSON, or the code host's other content type, a form with the JSON in `payload`.
import { isAscii, isUtf8 } from 'node:buffer';

export type Payload = { ok: true; value: unknown } | { ok: false; problem: string };

export function parsePayload(body: Buffer, contentType: string | undefined): Payload {
  if (!isUtf8(body)) return { ok: false, problem: 'the body is not UTF-8' };
  // One-byte strings parse faster, and most payloads are plain ASCII.
  const text = body.toString(isAscii(body) ? 'latin1' : 'utf8');
  const isForm =
    contentType?.startsWith('application/x-www-form-urlencoded') === true && text.startsWith('payload=');
  const json = isForm ? (new URLSearchParams(text).get('payload') ?? '') : text;
  try {
    return { ok: true, value: JSON.parse(json.charCodeAt(0) === 0xfeff ? json.slice(1) : json) };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError)
      return { ok: false, problem: 'the body is not JSON' };
    throw error;
  }
}
