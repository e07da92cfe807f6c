// The reasons for attention in words. One that is not here is shown as it is written.
const words: Record<string, string> = {
  'deploy-failed': 'A deploy failed',
  'deploy-budget-exhausted': 'No deploy attempts are left',
  'deploy-timeout': 'The deploy took too long',
  'done-unproven': 'Done is only claimed',
  'pr-closed': 'The pull request was closed',
  'worker-dead': 'The worker’s process is gone',
  'worker-stalled': 'The worker is stalled',
  'signal-corrupt': 'The signal file cannot be read',
  'verification-failed': 'The verification failed',
  'findings-waiting': 'Findings are not filed',
  'reaction-exhausted': 'The worker does not get further',
  'feed-blind': 'A feed is blind',
  'auth-failing': 'Deliveries fail their signature',
  'outbox-gave-up': 'Something could not be done',
  question: 'A worker asks',
};

/** `deploy-timeout` is `The deploy took too long`; `of-its-own` is `Of its own`. */
export function reasonWords(reason: string): string {
  const known = Object.hasOwn(words, reason) ? words[reason] : undefined;
  if (known !== undefined) return known;
  const plain = reason.replaceAll(/[-_]+/g, ' ').trim();
  return plain.charAt(0).toUpperCase() + plain.slice(1);
}
