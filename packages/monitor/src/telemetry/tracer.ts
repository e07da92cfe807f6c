// Spans, as the parts of the daemon know them: a port that does nothing unless tracing is configured. A part that
// runs by the thousand asks `recording` before it makes attributes, so that tracing which is off costs nothing.
//
//   const span = tracer.startSpan('delivery', attributesOfFeed);
//   if (span.recording) span.set({ 'svc.event': event });
//   span.end('accepted');

type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export type Span = {
  recording: boolean;
  set: (attributes: SpanAttributes) => void;
  /** A moment within it. */
  mark: (name: string) => void;
  /** The line of the log that came of it: spans of what the line causes link to this one. */
  became: (seq: number) => void;
  end: (outcome: string, hasFailed?: boolean) => void;
};

type SpanBeginning = {
  /** When it began, if earlier than now. */
  at?: number;
  /** The line that caused it. */
  causedBy?: number;
};

export type Tracer = {
  startSpan: (name: string, attributes: SpanAttributes, beginning?: SpanBeginning) => Span;
};

const nothing = (): void => undefined;
const noSpan: Span = Object.freeze({
  recording: false,
  set: nothing,
  mark: nothing,
  became: nothing,
  end: nothing,
});

export const noTracer: Tracer = { startSpan: () => noSpan };
