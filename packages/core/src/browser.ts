// What a web page and the hook of agents may import: pure functions that need no schema, so both stay small.
export { costSummary } from './agent/cost.ts';
export {
  ANSWER_WITHIN_MS,
  askIn,
  decisionFor,
  HOOK_ASK_PATH,
  HOOK_REPORT_PATH,
  hookedAgents,
  reportIn,
} from './agent/hook-event.ts';
export { type EventFamily, eventFamilies } from './log/event-filter.ts';
export { terminalSequence } from './orchestrate/agent-output.ts';
export { isAgentsWork, workerStatuses } from './runs/worker-statuses.ts';
export { type BoardKind, boardKinds } from './state/board-types.ts';
export { handedTo } from './state/views/attention-view.ts';
export {
  type BoardColumn,
  type BoardColumns,
  boardColumnNames,
  boardColumns,
  openTickets,
} from './state/views/board-columns.ts';
export { nameOfPullRequest, shortSha } from './state/views/subject.ts';
export { type AxisSegment, axisScale, foldIdle } from './state/views/trace-axis.ts';
