// A span of a ticket's timeline, with the events that prove its start and end.

import type { FoldedLine } from '../../kernel/board/board.ts';
import { isOlder } from '../../kernel/board/line-values.ts';
import type { Trace } from './api.ts';

export type TraceSpan = Trace['spans'][number];
/** `ended`: it is over, and neither succeeded nor failed. */
export type TraceState = TraceSpan['state'];

/** When the event happened: the upstream time, but never later than the event was accepted. */
export function momentOf({ occurredAt, ts }: Pick<FoldedLine, 'occurredAt' | 'ts'>): string {
  if (occurredAt === undefined || isOlder(ts, occurredAt)) return ts;
  const time = Date.parse(occurredAt);
  return Number.isNaN(time) ? ts : new Date(time).toISOString();
}

/** The later of two times. */
function notBefore(start: string, moment: string): string {
  return isOlder(moment, start) ? start : moment;
}

type Opening = Pick<TraceSpan, 'kind' | 'label'> & Partial<Pick<TraceSpan, 'reason' | 'url'>>;
type Closing = Partial<Pick<TraceSpan, 'label' | 'reason' | 'url'>>;

export type SpanList = {
  /** Starts a span with this name, unless one is already running. */
  open: (name: string, line: FoldedLine, given: Opening, at?: string) => void;
  /** Ends the running span with this name, if there is one. */
  close: (name: string, line: FoldedLine, state: Exclude<TraceState, 'running'>, given?: Closing) => void;
  isOpen: (name: string) => boolean;
  /** A span that ended with this line, and started with it or with another one. */
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

  function add(name: string, line: FoldedLine, given: Opening, at: string, reportedBy = line): TraceSpan {
    const { kind, label, reason = null, url = null } = given;
    const id = `${kind}:${name}:${reportedBy.seq}`;
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
