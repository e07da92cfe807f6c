// What the trace adds to the page.
import type { TicketPanel } from '../../parts/ticket-panel.ts';
import { TracePanel } from './trace-panel.tsx';

export const tracePanel: TicketPanel = TracePanel;
