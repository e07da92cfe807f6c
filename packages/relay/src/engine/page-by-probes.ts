// A page of a subject for servers that cannot send several messages for one request. Each request gets the
// first message at or after a sequence, so many are sent at once, ahead of the reader:
// - the channel fills its stream: one for each of the next sequences. Together the answers hold every message
//   of the channel among those sequences.
// - it is one of many: one every so many sequences. What lies between two answers is not known from that, so
//   then the first message after each answer is asked for, until each is known to be followed by the next.
import type { Page, StoredMessage } from './page.ts';

/** How far apart and how far ahead a reader asks; it keeps one for all of its pages. */
export type Pace = { ahead: number; apart: number };

type Probe = (from: number) => Promise<StoredMessage | undefined>;

const MOST_AHEAD = 64;
const MOST_ROUNDS = 6;
const PAGE_BYTES = 2 * 1024 * 1024;

export const firstPace = (): Pace => ({ ahead: 1, apart: 1 });

export async function pageByProbes(probe: Probe, after: number, pace: Pace): Promise<Page> {
  const { ahead, apart } = pace;
  const anchor = after > 0 ? probe(after) : undefined;
  const asked = Array.from({ length: ahead }, (_, at) => probe(after + 1 + at * apart));
  const [anchorAnswer, ...answers] = await Promise.all([anchor, ...asked]);
  const { messages, end } = distinct(answers, after);
  const proven = apart === 1 ? messages : await withAllBetween(messages, probe);
  // Asked far apart, "nothing" says nothing of what may lie directly after the last.
  const known = apart === 1 || messages.length === 0;
  adapt(pace, proven);
  return {
    anchor: anchorAnswer?.seq === after ? anchorAnswer.check : null,
    messages: proven,
    end: end && known,
  };
}

/** Replicas answer: what stands after a "nothing yet" of one that is behind may leave something out. */
function distinct(answers: readonly (StoredMessage | undefined)[], after: number) {
  const messages: StoredMessage[] = [];
  for (const answer of answers) {
    if (answer === undefined) return { messages, end: true };
    if (answer.seq > (messages.at(-1)?.seq ?? after)) messages.push(answer);
  }
  return { messages, end: false };
}

/** Up to the last of them of which everything before is known. */
async function withAllBetween(found: readonly StoredMessage[], probe: Probe): Promise<StoredMessage[]> {
  let known = [...found];
  /** Those whose next is not known yet; of the last it need not be. */
  let open = known.slice(0, -1);
  for (let round = 0; open.length > 0 && round < MOST_ROUNDS; round += 1) {
    const answers = await Promise.all(open.map(({ seq }) => probe(seq + 1)));
    const sequences = new Set(known.map(({ seq }) => seq));
    const between = answers.filter((answer) => answer !== undefined && !sequences.has(answer.seq));
    const behind = open.find((_, at) => answers[at] === undefined);
    open = between.filter((message) => message !== undefined);
    known = [...known, ...open].toSorted((one, other) => one.seq - other.seq);
    if (behind !== undefined) return known.filter(({ seq }) => seq <= Math.min(behind.seq, firstOf(open)));
  }
  return open.length === 0 ? known : known.filter(({ seq }) => seq <= firstOf(open));
}

const firstOf = (messages: readonly StoredMessage[]): number => messages[0]?.seq ?? Number.POSITIVE_INFINITY;

function adapt(pace: Pace, messages: readonly StoredMessage[]): void {
  const [first, last] = [messages[0], messages.at(-1)];
  if (first === undefined || last === undefined) return;
  const bytes = messages.reduce((sum, { data }) => sum + data.length, 0);
  const room = Math.max(1, Math.floor(PAGE_BYTES / (bytes / messages.length + 1)));
  const worthIt = messages.length * 2 >= pace.ahead;
  pace.ahead = Math.min(worthIt ? pace.ahead * 2 : Math.max(1, pace.ahead >> 1), MOST_AHEAD, room);
  if (messages.length === 1) pace.apart = Math.min(pace.apart * 2, 4096);
  else pace.apart = Math.max(1, Math.floor((last.seq - first.seq) / (messages.length - 1)));
}
