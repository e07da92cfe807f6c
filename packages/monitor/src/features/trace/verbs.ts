// svc trace
import { type AxisSegment, axisScale } from '@svc/lib/time-axis';
import { ofWorker, routeVerb } from '../../cli/kit/route-verb.ts';
import { paint, printTable, type Terminal } from '../../cli/kit/terminal.ts';
import { counted, plainText, spanText, utcText } from '../../cli/kit/text.ts';
import type { Trace } from './api.ts';
import { spanLabel, spanStates } from './span-words.ts';
import type { TraceSpan } from './trace-span.ts';

const WIDTH = 40;
const LONGEST_LABEL = 32;
/** A folded gap is two characters wide. */
const FOLDED_SHARE = 2 / WIDTH;

const colours = { running: 'cyan', succeeded: 'green', failed: 'red', ended: 'dim' } as const;

export const traceVerb = routeVerb('trace', 'GET /api/workers/{ticket}/trace', {
  summary: 'Show the timeline of a ticket, from phases to deploys',
  details: 'It has phases, waits, checks, reviews, the merge and deployments.',
  example: 'svc trace ABC-12',
  fields: ofWorker,
  print: async (terminal, trace, { ticket, orchestrator }, daemon) => {
    const asked = { params: { ticket }, query: { orchestrator } };
    const why = await daemon.get('/api/workers/{ticket}/why', asked);
    printTrace(terminal, trace, why.shipped === true);
  },
});

/** `isProven`: it shipped; what only its agent claims is not shown as done. */
function printTrace(terminal: Terminal, trace: Trace, isProven: boolean): void {
  const { ticket, orchestrator, from, to, axis, spans, now } = trace;
  const run = orchestrator === null ? '' : ` in ${plainText(orchestrator)}`;
  if (from === null) return terminal.out(`${plainText(ticket)}${run}: no event has a start time yet.`);
  terminal.out(`${paint(terminal, 'bold', plainText(ticket))}${run}: ${utcText(from)} to ${utcText(to)}`);
  if (trace.cut) terminal.out(`Shows only the newest ${trace.lines} events.`);
  const rows: string[] = [];
  printTable(
    { ...terminal, out: (line) => void rows.push(line) },
    spans.map((span) => [
      bar(span, axis, Date.parse(now)),
      plainText(spanLabel(span, isProven)).slice(0, LONGEST_LABEL),
      utcText(span.start),
      span.end === span.start ? '' : spanText(Date.parse(span.end ?? now) - Date.parse(span.start)),
      plainText([spanStates[span.state], span.reason].filter((text) => text !== null).join(': ')),
    ]),
  );
  spans.forEach(({ state }, index) => terminal.out(paint(terminal, colours[state], rows[index] ?? '')));
  const gaps = axis.filter(({ folded }) => folded).length;
  if (gaps > 0) terminal.out(`~ marks ${counted(gaps, 'gap')} of hours without events.`);
}

/** `  ━━~~━━   `: a folded gap is a wave, an open end an arrow, a moment a dot. */
function bar({ start, end }: TraceSpan, axis: readonly AxisSegment[], now: number): string {
  const scale = axisScale(axis, FOLDED_SHARE);
  const cellAt = (time: number): number => Math.min(WIDTH - 1, Math.floor(scale(time) * WIDTH));
  const first = cellAt(Date.parse(start));
  const last = Math.max(first, cellAt(end === null ? now : Date.parse(end)));
  const isFolded = (cell: number): boolean =>
    axis.some(
      ({ from, to, folded }) => folded && cell >= cellAt(Date.parse(from)) && cell < cellAt(Date.parse(to)),
    );
  return Array.from({ length: WIDTH }, (_, cell) => {
    if (cell < first || cell > last) return ' ';
    if (start === end) return '●';
    if (cell === last && end === null) return '▶';
    return isFolded(cell) ? '~' : '━';
  }).join('');
}
