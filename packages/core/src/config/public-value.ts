// What of a value is shown to whoever can reach the daemon's port, or looks over a shoulder. Of a secret nothing; of
// an address that opens something by itself its origin; of any other address all but the password and the query in it; of
// a command its program.
import { MASK } from './mask.ts';
import type { ResolvedValue } from './resolved-value.ts';

/** Tells two addresses apart; the address cannot be had from it. */
export type Fingerprint = (address: string) => string;

/** Begins at the `://`, so that a long text is read once. */
const credentials = /:\/\/[^/\s?#"'<>]+@/g;
const query = /(:\/\/[^\s?#"'<>]*)\?[^\s#"'<>]*/g;

/** `http://ada:pw@host/x?token=y` is `http://********@host/x?********`, wherever in the text it stands. */
export function withoutCredentials(text: string): string {
  return text.replaceAll(credentials, `://${MASK}@`).replaceAll(query, `$1?${MASK}`);
}

export function publicValue({ field, path, value }: ResolvedValue, fingerprint: Fingerprint): unknown {
  if (value === undefined || value === null) return null;
  if (field.secret) return MASK;
  // The words of a command may hold a token.
  if (path.at(-1) === 'argv' && Array.isArray(value)) return value.length > 1 ? [value[0], MASK] : value;
  if (field.opens === undefined) return withoutAnyCredentials(value);
  if (typeof value !== 'string') return MASK;
  // Of a person's own choice of topic a fingerprint would be enough to try guesses on; a channel is random.
  return field.opens === 'channel' ? `${hidden(value)} (fingerprint ${fingerprint(value)})` : hidden(value);
}

function hidden(address: string): string {
  const url = URL.parse(address);
  return url === null ? MASK : `${url.origin}/${MASK}`;
}

function withoutAnyCredentials(value: unknown): unknown {
  if (typeof value === 'string') return withoutCredentials(value);
  if (Array.isArray(value)) return value.map(withoutAnyCredentials);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, withoutAnyCredentials(part)]));
}
