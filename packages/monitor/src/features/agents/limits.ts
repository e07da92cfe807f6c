// A provider's usage limit: how it is recognised in what an agent reports, when it ends, and when svc continues. Agents pass
// on the words of their provider, so there is no common form: a time since 1970, an ISO time, "resets 5pm (Europe/Berlin)",
// "try again in 2 hours", "retry-after: 30".
import type { WorkerAgent } from '../workers/agent-fields.ts';

type AgentLimit = NonNullable<WorkerAgent['limit']>;

const LONGEST = 4_000;
/** An agent that quotes a limit writes more than the provider's own sentence. */
const LONGEST_SENTENCE = 400;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** The longest period of a provider is a month. A later time is not believed. */
const MOST_MS = 32 * DAY_MS;
/** A time of the day that has just passed is today's, not tomorrow's. */
const JUST_PASSED_MS = 10 * MINUTE_MS;
/** A limit that comes back sooner after a pause was not over. */
const IN_A_ROW_MS = 10 * MINUTE_MS;
const MOST_IN_A_ROW = 5;
/** How long svc waits when the provider does not report an end. */
const UNKNOWN_WAITS_MS = [15 * MINUTE_MS, 60 * MINUTE_MS, 240 * MINUTE_MS];

const period = '(?:usage|rate|session|hourly|daily|weekly|monthly|spending|request|quota|\\d+-hour)';
const reported = new RegExp(
  [
    `${period}[ _-]limit`,
    'hit your (?:\\w+ ){0,2}limit',
    '(?:reached|exceeded|exhausted) your (?:\\w+ ){0,3}(?:limit|quota|capacity|allowance)',
    'quota (?:was |has been |is )?(?:exceeded|exhausted|reached)',
    'resource (?:has been )?exhausted|resource_exhausted',
    'too many requests|rate[ _-]?limit',
    'out of (?:extra )?usage',
    '"(?:code|status|status_?code)":"?(?:429|402)\\b',
    'insufficient_quota|credit balance is too low|payment required',
  ].join('|'),
  'i',
);
const sentence =
  /^\W*(?:sorry, |error: |api error:? )?(?:429 )?(?:you['’]?(?:ve| have)? (?:hit|reached|exceeded|exhausted|been rate)|you['’]re out of|claude (?:ai )?usage limit|(?:usage|rate|session|weekly|daily|\d+-hour|quota) (?:limit )?(?:reached|exceeded))/i;
const unpaid =
  /insufficient_quota|credit balance is too low|payment required|":"?402\b|check your plan and billing/i;

/** The words of an error that reports a usage limit, with its data; null for any other error. */
export function limitInError(error: unknown): string | null {
  const text = textOf(error);
  return reported.test(text) ? text : null;
}

/** Some agents end the turn with the provider's sentence as their last message. */
export function limitInMessage(message: string): string | null {
  const text = message.trim();
  return text.length <= LONGEST_SENTENCE && sentence.test(text) && reported.test(text) ? text : null;
}

/** Waiting does not end such a limit: somebody has to pay or change the plan. */
export function isUnpaid(words: string): boolean {
  return unpaid.test(textOf(words));
}

function textOf(error: unknown): string {
  const text = typeof error === 'string' ? error : (JSON.stringify(error) ?? '');
  // Providers' errors arrive as JSON in a text in JSON.
  return text
    .slice(0, LONGEST)
    .replaceAll(/\\+"/g, '"')
    .replaceAll(/\\+n/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/" ?: ?/g, '":');
}

const units: readonly [pattern: RegExp, ms: number][] = [
  [/^d/i, DAY_MS],
  [/^h/i, 60 * MINUTE_MS],
  [/^m/i, MINUTE_MS],
  [/^s/i, 1_000],
];
const amount =
  '\\d{1,6}(?:\\.\\d{1,3})?\\s?(?:days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)(?![a-z])';
const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const clock = '(\\d{1,2})(?::(\\d{2}))?\\s?([ap])?\\.?m?';
const epochIn = /(?:reset[a-z_]{0,20}"?\s?[:=]\s?"?|limit reached\|)(\d{10,13})\b/i;
const isoIn = /\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)/;
const secondsIn =
  /(?:reset[a-z_]{0,10}_in_seconds|retry[-_ ]?after(?:[-_]seconds)?)"?\s?[:=]?\s?"?(\d{1,8})\b/i;
const durationIn = new RegExp(`(?:in|after|wait|delay":"?)\\s?((?:${amount}[\\s,]{0,2}(?:and )?){1,4})`, 'i');
const dateIn = new RegExp(
  `(?:reset|again|until)[a-z ]{0,8}\\b(${months.join('|')})[a-z]*\\.? (\\d{1,2})(?:st|nd|rd|th)?,?(?: (\\d{4}))?,?(?: at)? ${clock}`,
  'i',
);
const timeIn = new RegExp(
  `(?:reset|again|until)(?:s|ting)?(?: at| on)? (?:(${weekdays.join('|')})[a-z]*,? (?:at )?)?${clock}`,
  'i',
);
const zoneIn = /\((UTC|GMT|[A-Za-z_]+\/[A-Za-z0-9_+\-/]{2,40})\)/;

/**
 * When the limit ends, by its words; null: not reported, or more than a month away. A time of the day without a zone is in
 * the agent's own, `timeZone`. It may be in the past: then the provider reports a limit that should be over.
 */
export function limitEnd(words: string, at: string, timeZone: string): string | null {
  const now = Date.parse(at);
  const end = endIn(textOf(words), now, timeZone);
  return end === null || Number.isNaN(end) || end > now + MOST_MS ? null : new Date(end).toISOString();
}

function endIn(text: string, now: number, timeZone: string): number | null {
  const [, epoch] = epochIn.exec(text) ?? [];
  if (epoch !== undefined) return Number(epoch) * (epoch.length > 11 ? 1 : 1_000);
  const [iso] = isoIn.exec(text) ?? [];
  if (iso !== undefined) return Date.parse(iso);
  const [, seconds] = secondsIn.exec(text) ?? [];
  if (seconds !== undefined) return now + Number(seconds) * 1_000;
  const [, duration] = durationIn.exec(text) ?? [];
  if (duration !== undefined) return now + durationOf(duration);
  return dayIn(text, now, zoneIn.exec(text)?.[1] ?? timeZone);
}

function durationOf(text: string): number {
  const parts = text.matchAll(/([\d.]+)\s?([a-z]+)/gi);
  return [...parts].reduce((sum, [, count, unit = '']) => {
    const [, ms = 0] = units.find(([pattern]) => pattern.test(unit)) ?? [];
    return sum + Number(count) * ms;
  }, 0);
}

function dayIn(text: string, now: number, zone: string): number | null {
  const today = partsIn(zone, now);
  if (today === null) return null;
  const [, month, day, year, ...dated] = dateIn.exec(text) ?? [];
  if (month !== undefined) {
    const [hour, minute] = hourIn(dated);
    const index = months.indexOf(month.toLowerCase());
    return hour === null
      ? null
      : inZone(zone, [Number(year ?? today.year), index, Number(day), hour, minute]);
  }
  const [, weekday, ...timed] = timeIn.exec(text) ?? [];
  const [hour, minute] = hourIn(timed);
  if (hour === null) return null;
  for (let days = 0; days <= 8; days += 1) {
    const end = inZone(zone, [today.year, today.month, today.day + days, hour, minute]);
    if (end === null || end <= now - JUST_PASSED_MS) continue;
    const name = weekdays[partsIn(zone, end)?.weekday ?? 0];
    if (weekday === undefined || name === weekday.toLowerCase()) return end;
  }
  return null;
}

/** A number alone is not a time. */
function hourIn([hour, minute, half]: readonly (string | undefined)[]): [
  hour: number | null,
  minute: number,
] {
  if (hour === undefined || (minute === undefined && half === undefined)) return [null, 0];
  const known =
    half === undefined ? Number(hour) : (Number(hour) % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
  const isTime = known < 24 && Number(minute ?? 0) < 60;
  return [isTime ? known : null, Number(minute ?? 0)];
}

type Day = [year: number, month: number, day: number, hour: number, minute: number];

function inZone(zone: string, [year, month, day, hour, minute]: Day): number | null {
  const wanted = Date.UTC(year, month, day, hour, minute);
  const first = offsetAt(zone, wanted);
  if (first === null) return null;
  // Again, because the clock may change between the two.
  return wanted - (offsetAt(zone, wanted - first) ?? first);
}

function offsetAt(zone: string, moment: number): number | null {
  const parts = partsIn(zone, moment);
  if (parts === null) return null;
  const { year, month, day, hour, minute } = parts;
  return Date.UTC(year, month, day, hour, minute) - Math.floor(moment / MINUTE_MS) * MINUTE_MS;
}

/** Null for a zone that does not exist. */
function partsIn(zone: string, moment: number) {
  try {
    const format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      weekday: 'short',
    });
    const parts = Object.fromEntries(format.formatToParts(moment).map(({ type, value }) => [type, value]));
    const at = (name: string): number => Number(parts[name]);
    const weekday = weekdays.indexOf((parts['weekday'] ?? '').toLowerCase());
    return {
      year: at('year'),
      month: at('month') - 1,
      day: at('day'),
      hour: at('hour'),
      minute: at('minute'),
      weekday,
    };
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** What the board shows of a limit. `before` is the one before it. */
export function limitAfter(
  before: AgentLimit | null,
  {
    unpaid: isLasting,
    ...given
  }: Pick<AgentLimit, 'attempt' | 'turn' | 'text' | 'until' | 'at'> & { unpaid: boolean },
): AgentLimit {
  const { at, until } = given;
  const since = before?.endedAt ? Date.parse(at) - Date.parse(before.endedAt) : Number.POSITIVE_INFINITY;
  const number = before === null || Math.abs(since) > IN_A_ROW_MS ? 1 : before.number + 1;
  const wait = waitMs(until, at, number);
  const resumeAt = wait === null || isLasting ? null : new Date(Date.parse(at) + wait).toISOString();
  return { ...given, number, resumeAt, endedAt: null, resumed: false };
}

function waitMs(until: string | null, at: string, number: number): number | null {
  if (number > MOST_IN_A_ROW) return null;
  if (until === null) return UNKNOWN_WAITS_MS[number - 1] ?? null;
  // At least a minute, and longer each time: a time in the past must not lead to one prompt after another.
  return Math.max(Date.parse(until) - Date.parse(at), MINUTE_MS * 2 ** (number - 1));
}

/** The limit that an agent waits for. */
export function pausedBy(agent: WorkerAgent | null): AgentLimit | null {
  return agent?.limit?.endedAt === null ? agent.limit : null;
}

/** A clock that is more than a month before the end was set back: nothing waits longer than that. */
export function isLimitOver({ resumeAt }: AgentLimit, now: Date): boolean {
  if (resumeAt === null) return false;
  const left = Date.parse(resumeAt) - now.getTime();
  return left <= 0 || left > MOST_MS;
}

/** For people: of an agent whose process was ended because it had nothing to do. */
export function suspendedText({ minutes }: NonNullable<WorkerAgent['suspended']>): string {
  return `ended after ${minutes} ${minutes === 1 ? 'minute' : 'minutes'} without work; continues with your next message`;
}

/** For people. */
export function limitText({ text, until, resumeAt, number }: AgentLimit): string {
  const said = `The usage limit of the provider is reached: ${text.replaceAll(/\s+/g, ' ').replace(/[. ]+$/, '')}`;
  const unknown = until === null ? ' It did not report when the limit ends.' : '';
  if (resumeAt !== null) return `${said}.${unknown} svc continues at ${resumeAt}.`;
  const often = number > 1 ? ` It came back ${number - 1} times.` : '';
  return `${said}.${unknown}${often} svc does not continue by itself.`;
}

/** By this key the message is sent once. */
export function resumeMessage({ attempt, turn }: AgentLimit): { key: string; text: string; by: string } {
  const text = 'The usage limit is over. Check what is already there, then continue.';
  return { key: `limit:${attempt}.${turn}`, text, by: 'svc' };
}
