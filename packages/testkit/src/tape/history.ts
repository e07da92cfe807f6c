// Weeks of work before the recorded day: thousands of workers from ticket to production, written into the month files
// before a daemon starts. Each card repeats a ticket of the recorded day with its own names, numbers and times. A few
// were never merged.
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
};

/** `writeHistory(eventsDir, { cards: 10_000, until: new Date() })` */
export function writeHistory(eventsDir: string, options: HistoryOptions): { lines: number } {
  return writeMonthFiles(eventsDir, historyLines(options));
}

/** A card and how many of its lines are written. */
type Card = { at: number; began: number; template: Template; values: Map<string, string>; written: number };

export function* historyLines(options: HistoryOptions): Generator<EventLine> {
  const { cards, until, days = 28, seed = 3, open = 0.01 } = options;
  const random = createRandom(seed);
  const from = until.getTime() - days * DAY_MS;
  const step = (days * DAY_MS - CARD_MS) / cards;
  const { configApplied, templates } = readTemplates();
  /** Ordered by the time of the next line. */
  const underWay: Card[] = [];
  const put = (card: Card): void => {
    underWay.splice(underWay.findLastIndex(({ at }) => at <= card.at) + 1, 0, card);
  };
  let seq = 1;
  let begun = 0;
  yield { ...configApplied, seq, ts: new Date(from).toISOString() };
  for (;;) {
    const next = underWay[0];
    const begins = begun < cards ? from + begun * step : Number.POSITIVE_INFINITY;
    if (next === undefined && begun === cards) return;
    if (next === undefined || begins <= next.at) {
      begun += 1;
      const whole = random.pick(templates);
      const template = random.chance(open) ? { ...whole, lines: whole.lines.slice(0, UNTIL_MERGE) } : whole;
      put({ at: begins, began: begins, template, values: valuesOf(whole, begun, random), written: 0 });
      continue;
    }
    underWay.shift();
    const line = next.template.lines[next.written];
    if (line === undefined) continue;
    seq += 1;
    yield lineOf(next, line, seq);
    put({ ...next, at: next.at + CARD_MS / 14 + random.below(60_000), written: next.written + 1 });
  }
}

type Template = {
  /** What differs in each card. */
  ticket: string;
  orchestrator: string;
  pr: number;
  sha: string;
  mergeSha: string;
  deploymentId: number;
  /** JSON of the lines, and their times in the recorded day. */
  lines: { text: string; time: number }[];
};

const tickets = ['TID-88', 'TID-101', 'TID-107', 'TID-111'];

/** The lines of a card, in their order. */
const steps: readonly ((line: EventLine) => boolean)[] = [
  ({ event }) => event === 'tracker.issue.created',
  ({ event }) => event === 'orchestrator.worker.dispatched',
  ({ detail }) => detail['to'] === 'implementing',
  ({ event }) => event === 'codehost.pr.opened',
  ({ detail }) => detail['to'] === 'pr-created',
  ({ event }) => event === 'codehost.check_suite.completed',
  ({ event }) => event === 'codehost.pr.merged',
  ({ event, scope }) => event === 'codehost.deployment.created' && scope.environment === 'production',
  ({ event, scope }) => event === 'codehost.deployment_status.success' && scope.environment === 'production',
  ({ event, detail }) =>
    event === 'tracker.issue.state_changed' && JSON.stringify(detail).includes('"completed"'),
];
const UNTIL_MERGE = 6;

function readTemplates(): { configApplied: EventLine; templates: Template[] } {
  const { lines } = pastOf(openDay({ now: new Date(), nowIs: DAY_ENDS, pid: process.pid }));
  const [configApplied] = lines;
  if (configApplied === undefined) throw new Error('the recorded day is empty');
  return { configApplied, templates: tickets.map((ticket) => templateOf(ticket, lines)) };
}

function templateOf(ticket: string, lines: readonly EventLine[]): Template {
  const merged = lines.find(({ event, scope }) => event === 'codehost.pr.merged' && scope.ticket === ticket);
  const { pr = 0, sha = '', mergeSha = '' } = merged?.scope ?? {};
  const own = lines.filter(({ scope }) => scope.ticket === ticket || scope.sha === mergeSha);
  const chosen = steps.map((isStep, index) => {
    const line = own.find(isStep);
    if (line === undefined) throw new Error(`the recorded day has no line ${index} of ${ticket}`);
    return line;
  });
  const { orchestrator = '' } = chosen[1]?.scope ?? {};
  const { deploymentId = 0 } = chosen[7]?.scope ?? {};
  return {
    ticket,
    orchestrator,
    pr,
    sha,
    mergeSha,
    deploymentId,
    lines: chosen.map(({ deliveryId: _, ...line }) => ({
      text: JSON.stringify(line),
      time: Date.parse(line.ts),
    })),
  };
}

function valuesOf(template: Template, number: number, random: Random): Map<string, string> {
  const newSha = (): string => random.bytes(20).toString('hex');
  return new Map([
    [template.ticket, `OLD-${number}`],
    [template.ticket.toLowerCase(), `old-${number}`],
    [template.orchestrator, `run-old-${Math.floor(number / 40)}`],
    [String(template.pr), String(10_000 + number)],
    [template.sha, newSha()],
    [template.mergeSha, newSha()],
    [String(template.deploymentId), String(1_000_000 + number)],
  ]);
}

const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z`;

function lineOf(
  { at, began, values }: Card,
  { text, time: recorded }: Template['lines'][number],
  seq: number,
): EventLine {
  const ts = new Date(at).toISOString();
  const startedAt = new Date(began).toISOString();
  const replaced = new RegExp(`${time}|\\b(?:${[...values.keys()].join('|')})\\b`, 'g');
  const line = text.replace(
    replaced,
    (found) => values.get(found) ?? (Date.parse(found) < recorded - 1_000 ? startedAt : ts),
  );
  const id = `01d00000-0000-4000-8000-${String(seq).padStart(12, '0')}`;
  return { ...(JSON.parse(line) as EventLine), seq, id, ts };
}
