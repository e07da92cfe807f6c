// The reasons of attention items in words, for every surface.

/** The attention reasons as text. A reason that is not listed is shown as written. */
export const reasonTexts: Readonly<Record<string, string>> = {
  'deploy-failed': 'Deploy failed',
  'deploy-budget-exhausted': 'No deploy attempts left',
  'deploy-timeout': 'Deploy timed out',
  'done-unproven': 'Done, but not proven',
  'pr-closed': 'Pull request closed',
  'pr-unproven': 'Pull request not seen',
  'worker-dead': 'Agent process exited',
  'worker-failed': 'Agent failed',
  'worker-stalled': 'Agent stalled',
  'signal-corrupt': 'Status file unreadable',
  'verification-failed': 'Verification failed',
  'findings-waiting': 'Findings not filed',
  'reaction-exhausted': 'Agent retries used up',
  'feed-blind': 'Feed is blind',
  'auth-failing': 'Webhook signatures rejected',
  'outbox-gave-up': 'Action failed after retries',
  'dispatch-failed': 'Agent could not be started',
  'dispatch-refused': 'Run was not started',
  'task-refused': 'Task was not started',
  'config-invalid': 'Configuration has an error',
  question: 'Question from an agent',
  'agent-needs-permission': 'Agent needs a permission',
  'agent-needs-input': 'Agent has a question',
  'agent-stopped': 'Agent stopped before its work was done',
  'agent-limit': 'Usage limit reached',
  'budget-reached': 'Budget used up',
  'budget-unknown': 'Cost not known',
};

/** `deploy-timeout` is `Deploy timed out`; an unlisted `low-disk` is `Low disk`. */
export function reasonWords(reason: string): string {
  const known = Object.hasOwn(reasonTexts, reason) ? reasonTexts[reason] : undefined;
  if (known !== undefined) return known;
  // The rest is the name of the repository.
  if (reason.startsWith('policy-relaxed-')) return 'Deployments no longer required';
  const plain = reason.replaceAll(/[-_]+/g, ' ').trim();
  return plain.charAt(0).toUpperCase() + plain.slice(1);
}
