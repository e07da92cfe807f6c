import type { EventLine } from '../../kernel/log/event-line.ts';

/** `counted(1, 'warning')` is `1 warning`, `counted(2, 'warning')` `2 warnings`. */
export function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

// Names, titles and messages come from outside: they must not control the terminal, start a new line, or change the
// text direction.

const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/gu;

export function plainText(text: string): string {
  return text.replaceAll(CONTROL, '?');
}

/** Equal JSON with such characters written as `\uXXXX`; its own line breaks stay. */
export function plainJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replaceAll(CONTROL, (character) =>
    character === '\n' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

// Times for people: UTC to the second, and the distance from now.

const units: readonly (readonly [milliseconds: number, name: string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
];

/** `3 h`, in the largest unit that fits. */
export function spanText(milliseconds: number): string {
  const span = Math.abs(milliseconds);
  const [size, name] = units.find(([unit]) => span >= unit) ?? [1000, 's'];
  return `${Math.floor(span / size)} ${name}`;
}

/** `3 h ago`, `in 20 min`, or `now`. */
export function ageText(time: string, now: Date): string {
  const age = now.getTime() - Date.parse(time);
  if (Math.abs(age) < 1000) return 'now';
  return age > 0 ? `${spanText(age)} ago` : `in ${spanText(age)}`;
}

/** `2026-01-02 03:04:05 UTC`; a dash for anything that is not a time. */
export function utcText(time: string | null): string {
  const milliseconds = Date.parse(time ?? '');
  if (Number.isNaN(milliseconds)) return '-';
  return `${new Date(milliseconds).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** `2026-01-02 03:04:05 UTC (3 h ago)` */
export function timeText(time: string | null, now: Date): string {
  const text = utcText(time);
  return time === null || text === '-' ? text : `${text} (${ageText(time, now)})`;
}

/** An event on one line of a terminal: when, what, where, by whom. */
export function eventSummary({ seq, ts, event, scope, actor, detail, repeatOf }: EventLine): string {
  const about = [
    scope.ticket,
    scope.repo === undefined ? undefined : scope.repo + (scope.pr === undefined ? '' : `#${scope.pr}`),
    scope.environment,
    actor?.login,
    typeof detail['title'] === 'string' ? JSON.stringify(detail['title'].slice(0, 60)) : undefined,
    repeatOf === undefined ? undefined : `(repeat of ${repeatOf})`,
  ].filter((part) => part !== undefined);
  return plainText(`${seq} ${ts} ${event} ${about.join(' ')}`.trimEnd());
}
