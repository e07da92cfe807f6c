// What the schemas of the event log cannot say: what a family of topics is about, and who writes its lines. A topic
// that no family here covers fails the generator.

export type Family = { prefix: string; about: string; by: string };

const delivered = 'the receiver, from a delivery';
const deliveredOrFound = 'the receiver, from a delivery; reconciliation, when a delivery was missed';
const run = 'the orchestrator in the daemon';
const person = 'the daemon, for a person’s word';

export const families: readonly Family[] = [
  { prefix: 'codehost.pr.', about: 'A pull request', by: deliveredOrFound },
  { prefix: 'codehost.pr_review.', about: 'A review of a pull request', by: deliveredOrFound },
  { prefix: 'codehost.pr_review_thread.', about: 'A thread of review comments', by: delivered },
  { prefix: 'codehost.pr_review_comment.', about: 'A comment on a line of a pull request', by: delivered },
  { prefix: 'codehost.check_suite.', about: 'A suite of checks of a commit', by: deliveredOrFound },
  { prefix: 'codehost.status.', about: 'A status of a commit', by: deliveredOrFound },
  { prefix: 'codehost.push', about: 'A push', by: delivered },
  { prefix: 'codehost.issue_comment.', about: 'A comment on a pull request or an issue', by: delivered },
  { prefix: 'codehost.deployment.', about: 'A deployment', by: deliveredOrFound },
  { prefix: 'codehost.deployment_status.', about: 'A state of a deployment', by: deliveredOrFound },
  {
    prefix: 'codehost.other',
    about: 'An accepted delivery of another type: kept, not understood',
    by: delivered,
  },
  { prefix: 'tracker.issue.', about: 'A ticket', by: deliveredOrFound },
  { prefix: 'tracker.comment.', about: 'A comment on a ticket', by: delivered },
  { prefix: 'tracker.cycle.', about: 'A cycle of the team', by: delivered },
  { prefix: 'tracker.reaction.', about: 'A reaction', by: delivered },
  { prefix: 'tracker.issue_label.', about: 'A label', by: delivered },
  { prefix: 'tracker.project.', about: 'A project of the tracker', by: delivered },
  {
    prefix: 'tracker.other',
    about: 'An accepted delivery of another type: kept, not understood',
    by: delivered,
  },
  { prefix: 'orchestrator.run.', about: 'A run: many tickets at once', by: `${run}; ${person}` },
  { prefix: 'orchestrator.wave.', about: 'A wave of a run', by: run },
  {
    prefix: 'orchestrator.worker.',
    about: 'A worker',
    by: 'the daemon, from the worker’s signal file and its process; the orchestrator for `recalled`; a person for `retried`',
  },
  {
    prefix: 'orchestrator.deploy.',
    about: 'The deploy of a merge',
    by: 'the daemon, by the rules of the deploy; a person for `retried` and `accepted`',
  },
  { prefix: 'orchestrator.verification.', about: 'The verification of a merged commit', by: run },
  {
    prefix: 'workflow.ticket.',
    about: 'The phase of a ticket, and its state in the tracker',
    by: '`svc ticket phase` for `phase_changed`; the daemon for `state_moved`',
  },
  { prefix: 'workflow.rule.', about: 'A rule of the configuration', by: 'the daemon' },
  { prefix: 'comms.attention', about: 'What needs a person', by: `the daemon; ${person} on an item` },
  { prefix: 'monitor.feed.', about: 'A feed that changed its grade', by: 'the daemon' },
  { prefix: 'monitor.daemon.', about: 'The daemon itself', by: 'the daemon' },
  {
    prefix: 'monitor.config.',
    about: 'The configuration of a project, as it takes effect',
    by: 'the daemon',
  },
  { prefix: 'feedback.', about: 'Findings', by: '`svc add-finding`, `svc findings drain`' },
  { prefix: 'archive.', about: 'The archive', by: '`svc archive`' },
];

/** The most exact family of a topic. */
export function familyOf(topic: string): Family {
  const [found] = families
    .filter(({ prefix }) => topic.startsWith(prefix))
    .toSorted((one, other) => other.prefix.length - one.prefix.length);
  if (found === undefined)
    throw new Error(`no family of docs/reference/generate/event-words.ts covers ${topic}`);
  return found;
}
