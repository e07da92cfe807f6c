// How much of a value is shown to anyone who can reach the daemon's port or see the screen. Secret: nothing. Address
// that is itself a credential: its origin. Any other address: all but its password and query. Command: its program.
import type { ResolvedValue } from './resolved-value.ts';

/** Distinguishes two addresses without revealing them. */
export type Fingerprint = (address: string) => string;

/** Starts at the `://`, so a long text is scanned only once. */
const credentials = /:\/\/[^/\s?#"'<>]+@/g;
const query = /(:\/\/[^\s?#"'<>]*)\?[^\s#"'<>]*/g;

/** `http://ada:pw@host/x?token=y` becomes `http://********@host/x?********`, anywhere in the text. */
export function withoutCredentials(text: string): string {
  return text.replaceAll(credentials, `://${MASK}@`).replaceAll(query, `$1?${MASK}`);
}

export function publicValue({ field, path, value }: ResolvedValue, fingerprint: Fingerprint): unknown {
  if (value === undefined || value === null) return null;
  if (field.secret) return MASK;
  // The arguments of a command may contain a token.
  if (path.at(-1) === 'argv' && Array.isArray(value)) return value.length > 1 ? [value[0], MASK] : value;
  if (field.opens === undefined) return withoutAnyCredentials(value);
  if (typeof value !== 'string') return MASK;
  // A topic chosen by a person could be guessed from its fingerprint; a channel is random.
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

/** Shown instead of a secret. */
export const MASK = '********';
