export * from './access/socket-table.ts';
export * from './agent/check.ts';
export * from './agent/choice.ts';
export * from './agent/conversation.ts';
export { costOfWorker, costSummary, costText, runCostText, usdText } from './agent/cost.ts';
export * from './agent/facts.ts';
export * from './agent/hook-event.ts';
export {
  HookAsk,
  HookReport,
  heardFrom,
  hookEvents,
  isAnsweredIn,
  type NotedReport,
  requestOf,
} from './agent/hooks.ts';
export * from './agent/images.ts';
export { answerWords, turnWords } from './agent/item-words.ts';
export {
  isLimitOver,
  isUnpaid,
  limitEnd,
  limitText,
  pausedBy,
  resumeMessage,
  suspendedText,
} from './agent/limits.ts';
export {
  codexKeyVariable,
  type InHome,
  judgeLogin,
  type LoginEvidence,
  type LoginRule,
  noEvidence,
} from './agent/login.ts';
export * from './agent/messages.ts';
export { type AgentCommand, CHOSEN, changeRequest, type Setting } from './agent/offered.ts';
export { answerable, isForPeople, type OpenRequest, shownRequest } from './agent/requests.ts';
export * from './agent/schemas.ts';
export * from './agent/session.ts';
export { shortText } from './agent/tools.ts';
export type { AgentCheck, AgentOptions, AgentView, ListedAgent, WorktreeChanges } from './api/agents.ts';
export type { ArchiveList, Retention, RetentionEnd, RetentionItem } from './api/archive.ts';
export type { AttentionView } from './api/attention.ts';
export type { BoardChanges, BoardView } from './api/board.ts';
export type { ConfigEntry, ConfigReport, ProjectEntry, ReportedProblem } from './api/configuration.ts';
export type { DeploymentState, DeployPolicy, DeployProgress, DeployWorker } from './api/deploy.ts';
export type { AttentionEntry, PullRequestView, TeamWorkerView, WorkerView } from './api/entities.ts';
export type { EventCounts } from './api/events.ts';
export * from './api/failures.ts';
export * from './api/health.ts';
export * from './api/openapi.ts';
export type { PolicyView } from './api/policy.ts';
export * from './api/read-fields.ts';
export {
  type ApiAnswer,
  type ApiFields,
  type ApiGiven,
  type ApiRoute,
  noFields,
} from './api/route.ts';
export * from './api/routes.ts';
export type { HoldReason, OutsideBlocker, RunView } from './api/runs.ts';
export type { SuggestedLabel, SummaryRequest } from './api/summaries.ts';
export type { TeamBoard, TeamCommandView, TeamStatus } from './api/team.ts';
export type { Receipt, Trace, Why, WorkerOutput } from './api/workers.ts';
export * from './archive/archive-rules.ts';
export * from './archive/manifest.ts';
export * from './checks/event-arrival.ts';
export * from './checks/finding.ts';
export * from './checks/judge-daemon.ts';
export * from './checks/judge-feeds.ts';
export * from './checks/remedy-command.ts';
export * from './codehost/api-answer.ts';
export * from './codehost/api-budget.ts';
export * from './codehost/hook-plan.ts';
export * from './codehost/missing-deliveries.ts';
export * from './codehost/poll-differences.ts';
export * from './codehost/problem.ts';
export * from './codehost/repo-name.ts';
export * from './config/config-report.ts';
export * from './config/deprecations.ts';
export * from './config/field.ts';
export * from './config/key-path.ts';
export * from './config/problems.ts';
export * from './config/public-value.ts';
export * from './config/read-file.ts';
export * from './config/resolve.ts';
export * from './config/resolved-value.ts';
export * from './config/schema/config.ts';
export * from './config/schema/rules.ts';
export * from './config/secret-shapes.ts';
export * from './config/tree.ts';
export * from './context/workflow-context.ts';
export * from './deploy/deploy-worker.ts';
export * from './deploy/lifecycle.ts';
export * from './deploy/policy.ts';
export * from './deploy/policy-view.ts';
export * from './deploy/reverts.ts';
export * from './feedback/filing-consent.ts';
export * from './feedback/findings.ts';
export * from './feedback/remediation-ticket.ts';
export * from './json-schemas.ts';
export * from './log/clock.ts';
export * from './log/codehost-details.ts';
export * from './log/cut-text.ts';
export * from './log/cut-to-fit.ts';
export * from './log/event-filter.ts';
export * from './log/event-line.ts';
export * from './log/helper-topics.ts';
export * from './log/missing-lines.ts';
export * from './log/own-details.ts';
export * from './log/topics.ts';
export * from './log/tracker-details.ts';
export * from './log/typed-line.ts';
export * from './log/visible-text.ts';
export * from './nearest.ts';
export * from './notify/notification.ts';
export * from './orchestrate/acts.ts';
export * from './orchestrate/agent-environment.ts';
export * from './orchestrate/agent-output.ts';
export * from './orchestrate/agent-template.ts';
export * from './orchestrate/budget.ts';
export * from './orchestrate/detect-setup.ts';
export { dispatchRefusal, type StartRun, unservedDispatch } from './orchestrate/dispatch.ts';
export * from './orchestrate/fill-command.ts';
export * from './orchestrate/next-acts.ts';
export { endsWithItsRun } from './orchestrate/next-acts.ts';
export * from './orchestrate/plan.ts';
export * from './orchestrate/reaction-causes.ts';
export * from './orchestrate/reactions.ts';
export * from './orchestrate/run-summary.ts';
export * from './orchestrate/run-view.ts';
export * from './orchestrate/setup-variables.ts';
export {
  isLocalTicket,
  LONGEST_TASK,
  localPrefix,
  localTicketText,
  readTask,
  runOfTask,
  type TicketWords,
} from './orchestrate/task.ts';
export { type DiffScope, diffScopes, scopeOfDiff } from './orchestrate/verify/file-kind.ts';
export * from './orchestrate/verify/refutation.ts';
export * from './orchestrate/verify/test-advice.ts';
export * from './orchestrate/verify/test-command.ts';
export * from './orchestrate/verify/test-types.ts';
export * from './orchestrate/verify/verdict.ts';
export * from './orchestrate/worker-command.ts';
export * from './orchestrate/worktree-record.ts';
export * from './outbox/outbox.ts';
export * from './receive/delivery.ts';
export * from './receive/map-codehost.ts';
export * from './receive/map-issues.ts';
export * from './receive/map-tracker.ts';
export { type Fields, jsonIn, objectAt, parsedJson, textAt } from './receive/payload-fields.ts';
export * from './retention/retention.ts';
export * from './rules/rules.ts';
export * from './runs/signal-changes.ts';
export * from './runs/signal-file.ts';
export { isAgentsWork, ruleWithAge, shownStatus, workerStatuses } from './runs/worker-statuses.ts';
export * from './setup/configuration-findings.ts';
export * from './setup/detect.ts';
export * from './setup/first-steps.ts';
export * from './setup/merge-findings.ts';
export * from './setup/project-changes.ts';
export * from './setup/service-files.ts';
export * from './state/board.ts';
export * from './state/board-types.ts';
export * from './state/effect.ts';
export { causeStands } from './state/fold-attention.ts';
export * from './state/fold-pull-request.ts';
export { sessionEvent } from './state/fold-session.ts';
export { isWatchedTicket } from './state/fold-ticket-text.ts';
export { awaitingReview } from './state/pull-request-verdict.ts';
export * from './state/views/attention-view.ts';
export * from './state/views/board-changes.ts';
export * from './state/views/board-columns.ts';
export * from './state/views/board-view.ts';
export * from './state/views/held-ticket.ts';
export * from './state/views/proof.ts';
export * from './state/views/receipt.ts';
export * from './state/views/shared-things.ts';
export * from './state/views/subject.ts';
export * from './state/views/team-view.ts';
export * from './state/views/trace.ts';
export * from './state/views/trace-axis.ts';
export * from './state/views/trace-span.ts';
export * from './state/views/why.ts';
export { workerText } from './state/views/worker-label.ts';
export * from './state/views/worker-titles.ts';
export * from './state/watched.ts';
export { isUnseenClaim } from './state/worker-attention.ts';
export * from './summarize/briefing-prompt.ts';
export * from './summarize/providers.ts';
export * from './summarize/summary-prompt.ts';
export * from './team/command.ts';
export * from './team/names.ts';
export * from './team/record.ts';
export * from './team/roster.ts';
export * from './team/shared.ts';
export * from './telemetry/proxy-request.ts';
export * from './tracker/api-answer.ts';
export * from './tracker/dependencies.ts';
export * from './tracker/github-issue.ts';
export * from './tracker/github-states.ts';
export * from './tracker/polled-issue.ts';
export * from './tracker/registration.ts';
export * from './tracker/ticket-change.ts';
export * from './tracker/ticket-phase.ts';
export * from './tracker/ticket-text.ts';
export * from './tracker/tracker-of.ts';
export * from './tunnel/backoff.ts';
export * from './tunnel/feed-channel.ts';
export * from './tunnel/feed-grade.ts';
export * from './tunnel/relay-message.ts';
export * from './vendor-names.ts';
