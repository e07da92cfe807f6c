// The time of a run's workers in their statuses, from the lines that told them. What is believed now replaces
// what was told last, for the two may differ.
import type { EventLine } from '@svc/core';
import type { RunTicket } from './run-model.ts';

export type StatusBar = { status: string; from: number; to: number | null; seq: number };
type TimelineRow = { ticket: string; bars: StatusBar[] };
export type WaveBar = { wave: number; state: string; from: number; to: number | null; seq: number };
export type Timeline = { rows: TimelineRow[]; waves: WaveBar[] };

const ended: readonly string[] = ['done', 'failed', 'canceled'];

/** `lines` oldest first; lines of other topics are left out. */
export function timelineOf(lines: readonly EventLine[], tickets: readonly RunTicket[]): Timeline {
  const told = new Map<string, StatusBar[]>();
  const waves: WaveBar[] = [];
  for (const line of lines) {
    if (line.event.startsWith('orchestrator.wave.')) addWave(waves, line);
    const status = statusIn(line);
    const { ticket } = line.scope;
    if (status === null || ticket === undefined) continue;
    const bars = told.get(ticket) ?? [];
    told.set(ticket, bars);
    addBar(bars, { status, from: timeOf(line), to: null, seq: line.seq });
  }
  const rows = tickets.flatMap((one): TimelineRow[] => {
    const bars = told.get(one.ticket) ?? [];
    believe(bars, one);
    const last = bars.at(-1);
    // An end has no length of its own.
    if (last !== undefined && ended.includes(last.status)) last.to = last.from;
    return bars.length === 0 ? [] : [{ ticket: one.ticket, bars }];
  });
  return { rows, waves };
}

function statusIn({ event, detail }: EventLine): string | null {
  if (event === 'orchestrator.worker.dispatched') return 'dispatched';
  if (event !== 'orchestrator.worker.status_changed') return null;
  const { to } = detail;
  return typeof to === 'string' ? to : null;
}

function addBar(bars: StatusBar[], bar: StatusBar): void {
  const last = bars.at(-1);
  if (last?.status === bar.status) return;
  if (last !== undefined) last.to = Math.max(bar.from, last.from);
  bars.push(bar);
}

function believe(bars: StatusBar[], { status, since, worker }: RunTicket): void {
  if (status === null || since === null) return;
  const from = Date.parse(since);
  const last = bars.at(-1);
  if (last === undefined || last.status === status) {
    if (last === undefined) bars.push({ status, from, to: null, seq: worker?.statusSeq ?? 0 });
    return;
  }
  // The file says otherwise: what it says from here on is not believed.
  while (bars.length > 0 && (bars.at(-1)?.from ?? 0) >= from) bars.pop();
  addBar(bars, { status, from, to: null, seq: worker?.statusSeq ?? last.seq });
  const now = bars.at(-1);
  if (now !== undefined) now.to = null;
}

function addWave(waves: WaveBar[], line: EventLine): void {
  const { wave } = line.detail as { wave?: unknown };
  if (typeof wave !== 'number') return;
  const from = timeOf(line);
  const state = line.event.slice('orchestrator.wave.'.length);
  const open = waves.findLast((bar) => bar.wave === wave && bar.to === null);
  if (open !== undefined) {
    if (open.state === state) return;
    open.to = from;
  }
  if (state === 'completed') {
    if (open === undefined) waves.push({ wave, state, from, to: from, seq: line.seq });
    else waves.splice(waves.indexOf(open), 1, { ...open, state, to: from });
  } else waves.push({ wave, state, from, to: null, seq: line.seq });
}

/** When it happened, where that was told. */
function timeOf({ occurredAt, ts }: EventLine): number {
  const time = Date.parse(occurredAt ?? ts);
  return Number.isFinite(time) ? time : Date.parse(ts);
}
