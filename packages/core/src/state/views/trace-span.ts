// A stretch of a ticket's way, with the lines that prove where it began and where it ended.
import type { Trace } from '../../api/workers.ts';
import { isOlder } from '../board-entities.ts';
import type { FoldedLine } from '../board-types.ts';

export type TraceSpan = Trace['spans'][number];
/** `ended`: it is over, and was neither good nor bad. */
export type TraceState = TraceSpan['state'];

/** When a line's fact happened: upstream's word, but never later than the line was accepted. */
export function momentOf({ occurredAt, ts }: Pick<FoldedLine, 'occurredAt' | 'ts'>): string {
  if (occurredAt === undefined || isOlder(ts, occurredAt)) return ts;
  const time = Date.parse(occurredAt);
  return Number.isNaN(time) ? ts : new Date(time).toISOString();
}

/** The later of two moments. */
function notBefore(start: string, moment: string): string {
  return isOlder(moment, start) ? start : moment;
}

type Opening = Pick<TraceSpan, 'kind' | 'label'> & Partial<Pick<TraceSpan, 'reason' | 'url'>>;
type Closing = Partial<Pick<TraceSpan, 'label' | 'reason' | 'url'>>;

export type SpanList = {
  /** Begins a span under a name; one that goes on under this name already stays as it is. */
  open: (name: string, line: FoldedLine, given: Opening, at?: string) => void;
  /** Ends the span that goes on under this name, if one does. */
  close: (name: string, line: FoldedLine, state: Exclude<TraceState, 'running'>, given?: Closing) => void;
  isOpen: (name: string) => boolean;
  /** A span that began and ended with this line, or began at another one. */
  moment: (
    name: string,
    line: FoldedLine,
    state: Exclude<TraceState, 'running'>,
    given: Opening,
    from?: { line: FoldedLine },
  ) => void;
  all: () => TraceSpan[];
};

export function createSpanList(): SpanList {
  const running = new Map<string, TraceSpan>();
  const spans: TraceSpan[] = [];

  function add(name: string, line: FoldedLine, given: Opening, at: string, told = line): TraceSpan {
    const { kind, label, reason = null, url = null } = given;
    const id = `${kind}:${name}:${told.seq}`;
    const span: TraceSpan = {
      id,
      kind,
      label,
      state: 'running',
      start: at,
      end: null,
      startSeq: line.seq,
      endSeq: null,
      reason,
      url,
    };
    spans.push(span);
    return span;
  }

  function end(span: TraceSpan, line: FoldedLine, state: TraceState, given: Closing): void {
    span.state = state;
    span.end = notBefore(span.start, momentOf(line));
    span.endSeq = line.seq;
    span.label = given.label ?? span.label;
    span.reason = given.reason ?? span.reason;
    span.url = given.url ?? span.url;
  }

  return {
    open(name, line, given, at = momentOf(line)) {
      if (!running.has(name)) running.set(name, add(name, line, given, at));
    },
    close(name, line, state, given = {}) {
      const span = running.get(name);
      if (span === undefined) return;
      running.delete(name);
      end(span, line, state, given);
    },
    isOpen: (name) => running.has(name),
    moment(name, line, state, given, from = { line }) {
      const span = add(name, from.line, given, momentOf(from.line), line);
      end(span, line, state, {});
    },
    all: () => spans.toSorted((a, b) => Date.parse(a.start) - Date.parse(b.start) || a.startSeq - b.startSeq),
  };
}
