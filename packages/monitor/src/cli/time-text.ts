// Times for people: UTC to the second, and how far that is from now.
const units: readonly (readonly [milliseconds: number, name: string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
];

/** `3 h`, in the largest unit of which there is one. */
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

/** `2026-01-02 03:04:05 UTC`; what is no time is a dash. */
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
