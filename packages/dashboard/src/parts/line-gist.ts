// A short text for an event, from its detail: what changed, from what to what; and how it arrived, in words.
import type { EventLine } from 'svc-monitor/src/kernel/log/event-line.ts';

/** The screen truncates it further; this only bounds the page. */
const MOST = 400;
/** Shown elsewhere, or of no use to a reader. */
const hidden = new Set(['signal', 'hash', 'policy', 'by', 'id', 'evidence', 'url', 'webhookTimestamp']);

export function lineGist({ detail }: Pick<EventLine, 'detail'>): string {
  const { from, to, message, summary, reason, state, status, conclusion, title, body, ...rest } = detail;
  const { changed, ...others } = rest;
  const isMove = Array.isArray(changed) && changed.includes('stateId');
  const name = isMove ? nameIn(state) : undefined;
  if (name !== undefined) return cut(isPlain(title) ? `→ ${name}: ${title}` : `→ ${name}`);
  const first = [message, summary, title, body].find((text) => typeof text === 'string' && text !== '');
  if (typeof first === 'string') return cut(first);
  if (isPlain(to)) return isPlain(from) ? `${from} → ${to}` : `→ ${to}`;
  const states = [state, status, conclusion, reason].filter(isPlain).map(String);
  if (states.length > 0) return cut(states.join(', '));
  return cut(
    Object.entries(others)
      .filter(([field, value]) => !hidden.has(field) && !field.endsWith('Id') && isPlain(value))
      .slice(0, 3)
      .map(([field, value]) => `${field} ${String(value)}`)
      .join(', '),
  );
}

/** The tracker's states have names. */
function nameIn(state: unknown): string | undefined {
  const found: unknown = typeof state === 'object' && state !== null ? Reflect.get(state, 'name') : undefined;
  return typeof found === 'string' && found !== '' ? found : undefined;
}

function isPlain(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value) && value !== '';
}

function cut(text: string): string {
  return text.slice(0, MOST).replaceAll(/\s+/g, ' ').trim();
}

const viaTexts: Record<EventLine['via'], string> = {
  live: 'sent to svc as it happened',
  replay: 'sent again by the code host, after svc had missed it',
  poll: 'found by asking the code host or the tracker',
  local: 'recorded by svc on this machine',
};

/** How the event arrived: `live` is `sent to svc as it happened`. */
export function viaWords(via: EventLine['via']): string {
  return viaTexts[via];
}
