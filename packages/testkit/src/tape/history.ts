// Weeks of work before the recorded day: thousands of workers from ticket to production, written into the month files
// before a daemon starts. Each card repeats a ticket of the recorded day with its own names, numbers and times: ten of
// its lines, or all of them with many rounds of checks, reviews and pushes. A few were never merged.
import type { EventLine } from 'svc-monitor/src/kernel/log/event-line.ts';
import { DAY_ENDS, openDay } from '../../../demo/src/day.ts';
import { pastOf, writeMonthFiles } from '../../../demo/src/past.ts';
import { createRandom, type Random } from '../random.ts';

const DAY_MS = 86_400_000;
const CARD_MS = 3 * 3_600_000;

export type HistoryOptions = {
  cards: number;
  /** The last line is from before this time. */
  until: Date;
  days?: number;
  seed?: number;
  /** The share of cards that were never merged. */
  open?: number;
  /** How often a card is checked, reviewed and pushed again, on average; without it, a card has ten lines. */
  rounds?: number;
};

/** `writeHistory(eventsDir, { cards: 10_000, until: new Date() })` */
export function writeHistory(eventsDir: string, options: HistoryOptions): { lines: number } {
  return writeMonthFiles(eventsDir, historyLines(options));
}

type Line = {
  /** JSON, and its time in the recorded day. */
  text: string;
  time: number;
  /** With the first line of a round, these ids are new. */
  renews: readonly string[];
};

/** A card and how many of its lines are written. */
type Card = {
  at: number;
  began: number;
  template: Template;
  lines: readonly Line[];
  /** By what the recorded day has instead. */
  values: Map<string, string>;
  written: number;
};

export function* historyLines(options: HistoryOptions): Generator<EventLine> {
  const { cards, until, days = 28, seed = 3, open = 0.01, rounds = 0 } = options;
  const random = createRandom(seed);
  const newId = idsFrom(random);
  const from = until.getTime() - days * DAY_MS;
  const step = (days * DAY_MS - CARD_MS) / cards;
  const { configApplied, templates } = readTemplates(rounds > 0);
  /** Ordered by the time of the next line. */
  const underWay: Card[] = [];
  const put = (card: Card): void => {
    underWay.splice(underWay.findLastIndex(({ at }) => at <= card.at) + 1, 0, card);
  };
  let seq = 1;
  let begun = 0;
  yield { ...configApplied, seq, ts: new Date(from - 1_000).toISOString() };
  for (;;) {
    const next = underWay[0];
    const begins = begun < cards ? from + begun * step : Number.POSITIVE_INFINITY;
    if (next === undefined && begun === cards) return;
    if (next === undefined || begins <= next.at) {
      begun += 1;
      const template = random.pick(templates);
      const { before, round, after } = template;
      const repeated =
        rounds > 0 ? Array.from({ length: 1 + random.below(2 * rounds - 1) }, () => round) : [];
      const lines = [...before, ...repeated.flat(), ...(random.chance(open) ? [] : after)];
      const values = valuesOf(template, begun, newId);
      put({ at: begins, began: begins, template, lines, values, written: 0 });
      continue;
    }
    underWay.shift();
    const line = next.lines[next.written];
    if (line === undefined) continue;
    seq += 1;
    renew(next.values, line.renews, newId);
    yield lineOf(next, line, seq);
    const pace = (CARD_MS / next.lines.length) * (0.71 + random.next() / 20);
    put({ ...next, at: next.at + pace, written: next.written + 1 });
  }
}

type Template = {
  /** What differs in each card. */
  ticket: string;
  orchestrator: string;
  pr: number;
  /** The ids of commits, deployments, check suites, comments and reviews. */
  ids: readonly string[];
  /** Matches all of that, and every time. */
  changing: RegExp;
  before: readonly Line[];
  /** Checks, a review, a push and its checks. */
  round: readonly Line[];
  after: readonly Line[];
};

const tickets = ['TID-88', 'TID-101', 'TID-107', 'TID-111'];
/** The one that was reviewed and pushed again. */
const REPEATED = 'TID-101';

const hasEvent =
  (name: string) =>
  ({ event }: EventLine): boolean =>
    event === name;
const hasStatus =
  (status: string) =>
  ({ detail }: EventLine): boolean =>
    detail['to'] === status;
const isMerge = hasEvent('codehost.pr.merged');

/** The lines of a card without rounds, in their order. */
const steps: readonly ((line: EventLine) => boolean)[] = [
  hasEvent('tracker.issue.created'),
  hasEvent('orchestrator.worker.dispatched'),
  hasStatus('implementing'),
  hasEvent('codehost.pr.opened'),
  hasStatus('pr-created'),
  hasEvent('codehost.check_suite.completed'),
  isMerge,
  ({ event, scope }) => event === 'codehost.deployment.created' && scope.environment === 'production',
  ({ event, scope }) => event === 'codehost.deployment_status.success' && scope.environment === 'production',
  ({ event, detail }) =>
    event === 'tracker.issue.state_changed' && JSON.stringify(detail).includes('"completed"'),
];

const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z`;
const anId = /\b[0-9a-f]{40}\b|\bPRRT_\w+|(?<="(?:comment|deployment|review|status|suite)Id":)\d+/g;

function readTemplates(inRounds: boolean): { configApplied: EventLine; templates: Template[] } {
  const { lines } = pastOf(openDay({ now: new Date(), nowIs: DAY_ENDS, pid: process.pid }));
  const [configApplied] = lines;
  if (configApplied === undefined) throw new Error('the recorded day is empty');
  const chosen = inRounds ? [REPEATED] : tickets;
  return { configApplied, templates: chosen.map((ticket) => templateOf(ticket, lines, inRounds)) };
}

function templateOf(ticket: string, lines: readonly EventLine[], inRounds: boolean): Template {
  const merge = lines.find((line) => isMerge(line) && line.scope.ticket === ticket);
  const { pr = 0, mergeSha } = merge?.scope ?? {};
  const own = lines.filter(({ scope }) => scope.ticket === ticket || scope.sha === mergeSha);
  const chosen = inRounds ? own : steps.flatMap((isStep) => own.find(isStep) ?? []);
  if (!inRounds && chosen.length < steps.length) throw new Error(`the recorded day lacks lines of ${ticket}`);
  const { orchestrator = '' } = chosen.find(hasEvent('orchestrator.worker.dispatched'))?.scope ?? {};
  const merged = chosen.findIndex(isMerge);
  const from = inRounds ? chosen.findIndex(hasEvent('codehost.check_suite.requested')) : merged;
  const to = inRounds ? chosen.findIndex(hasEvent('codehost.pr_review_thread.resolved')) + 1 : merged;
  const made = chosen.map(
    (line): Line => ({ text: JSON.stringify(line), time: Date.parse(line.ts), renews: [] }),
  );
  const [first, ...others] = made.slice(from, to);
  const round = first === undefined ? [] : [{ ...first, renews: idsIn([first, ...others]) }, ...others];
  const ids = idsIn(made);
  const changing = new RegExp(
    `${time}|\\b(?:${[ticket, ticket.toLowerCase(), orchestrator, pr, ...ids].join('|')})\\b`,
    'g',
  );
  return {
    ticket,
    orchestrator,
    pr,
    ids,
    changing,
    before: made.slice(0, from),
    round,
    after: made.slice(to),
  };
}

/** Each once, in the order of the lines. */
function idsIn(lines: readonly Line[]): string[] {
  return [...new Set(lines.flatMap(({ text }) => text.match(anId) ?? []))];
}

const isSha = (id: string): boolean => id.length === 40;

/** A new id like the given one. */
function idsFrom(random: Random): (like: string) => string {
  let last = 1_000_000;
  return (like) => {
    if (isSha(like)) return random.bytes(20).toString('hex');
    last += 1;
    return like.startsWith('PRRT_') ? `PRRT_${last}` : String(last);
  };
}

function valuesOf(
  { ticket, orchestrator, pr, ids }: Template,
  number: number,
  newId: (like: string) => string,
): Map<string, string> {
  return new Map([
    [ticket, `OLD-${number}`],
    [ticket.toLowerCase(), `old-${number}`],
    [orchestrator, `run-old-${Math.floor(number / 40)}`],
    [String(pr), String(10_000 + number)],
    ...ids.map((id) => [id, newId(id)] as const),
  ]);
}

/** The next round begins with the commit that the previous one pushed. */
function renew(values: Map<string, string>, ids: readonly string[], newId: (like: string) => string): void {
  const [reviewed, pushed] = ids.filter(isSha);
  const head = values.get(pushed ?? '');
  for (const id of ids) values.set(id, newId(id));
  if (reviewed !== undefined && head !== undefined) values.set(reviewed, head);
}

function lineOf(
  { at, began, template, values }: Card,
  { text, time: recorded }: Line,
  seq: number,
): EventLine {
  const ts = new Date(at).toISOString();
  const startedAt = new Date(began).toISOString();
  const line = text.replace(
    template.changing,
    (found) => values.get(found) ?? (Date.parse(found) < recorded - 1_000 ? startedAt : ts),
  );
  const id = `01d00000-0000-4000-8000-${String(seq).padStart(12, '0')}`;
  const { deliveryId, ...rest } = JSON.parse(line) as EventLine;
  return { ...rest, seq, id, ts, ...(deliveryId !== undefined && { deliveryId: `old-${seq}` }) };
}
