// An event line in a few words: what its detail says that fits beside its topic.
import type { EventLine } from '@svc/core';

/** The screen cuts it to its lines; this only bounds the page. */
const MOST = 400;
/** What is shown elsewhere, or means nothing to a reader. */
const left = new Set(['signal', 'hash', 'policy', 'changed', 'by', 'id', 'evidence']);

export function lineGist({ detail }: Pick<EventLine, 'detail'>): string {
  const { from, to, message, summary, reason, state, conclusion, title, ...rest } = detail;
  const first = [message, summary, title].find((text) => typeof text === 'string');
  if (typeof first === 'string') return cut(first);
  if (isPlain(to)) return isPlain(from) ? `${from} to ${to}` : String(to);
  const said = [state, conclusion, reason].filter(isPlain).map(String);
  if (said.length > 0) return cut(said.join(', '));
  return cut(
    Object.entries(rest)
      .filter(([name, value]) => !left.has(name) && isPlain(value))
      .slice(0, 3)
      .map(([name, value]) => `${name} ${String(value)}`)
      .join(', '),
  );
}

function isPlain(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value) && value !== '';
}

function cut(text: string): string {
  return text.slice(0, MOST).replaceAll(/\s+/g, ' ').trim();
}
