// What a web page and the hook of agents may import: pure functions that need no schema, so both stay small.
export { agentLabel } from './agent/agent-label.ts';
export { costSummary, costText, runCostText, sumOfCosts, usdText } from './agent/cost.ts';
export {
  ANSWER_WITHIN_MS,
  askIn,
  cutRequest,
  decisionFor,
  HOOK_ASK_PATH,
  HOOK_REPORT_PATH,
  hookedAgents,
  reportIn,
} from './agent/hook-event.ts';
export {
  imageTypeOf,
  imageTypes,
  imageWords,
  MOST_IMAGE_BYTES,
  MOST_IMAGES,
  notAnImage,
  tooManyImages,
} from './agent/images.ts';
export { answerWords, turnWords } from './agent/item-words.ts';
export { msWaitedToday } from './agent/waits.ts';
export { doctorFinding, inDoctorOrder, isOff } from './checks/finding.ts';
export { remedyCommand, remedyOnMachine } from './checks/remedy-command.ts';
export { deployLabel } from './deploy/deploy-label.ts';
export { isShipped } from './deploy/deploy-worker.ts';
export { type EventFamily, eventFamilies } from './log/event-filter.ts';
export { visibleText } from './log/visible-text.ts';
export { runLabel, verificationLabel, waveLabel } from './orchestrate/run-labels.ts';
export {
  claimsPullRequest,
  isAgentsWork,
  ruleWithAge,
  shownStatus,
  workerStatuses,
} from './runs/worker-statuses.ts';
export { agentToName, type FirstStep, firstSteps, nextCommand } from './setup/first-steps.ts';
export { type BoardKind, boardKinds } from './state/board-types.ts';
export { hasStandingCause } from './state/standing-cause.ts';
export { handedTo } from './state/views/attention-view.ts';
export {
  type BoardColumn,
  type BoardColumns,
  boardColumnNames,
  boardColumns,
  isWaiting,
  itemsOfWorker,
  type NeedsYou,
  type NeedsYouInput,
  needsPerson,
  needsYouCount,
  openTickets,
  type WaitingThing,
  whatNeedsYou,
} from './state/views/board-columns.ts';
export type { Meaning, StateLabel } from './state/views/label.ts';
export { checksLabel, reviewLabel } from './state/views/pull-request-label.ts';
export { nameOfPullRequest, shortSha } from './state/views/subject.ts';
export { type AxisSegment, axisScale, foldIdle } from './state/views/trace-axis.ts';
export {
  cardLabel,
  errorsOf,
  statusMeaning,
  statusWords,
  workerLabel,
} from './state/views/worker-label.ts';
