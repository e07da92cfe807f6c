// What a helper may report. Events of the code host and the tracker come only from their deliveries. Events of the daemon
// and its rules, and runs that the tracker asked for, come only from the daemon. A person's decision, and the folder in
// which a run's agents start, have their own routes with their own checks.
import type { EventFields } from '../kernel/log/event-line.ts';

const families = ['orchestrator.', 'workflow.', 'comms.', 'feedback.', 'archive.'];

/** A fired rule runs a command. What svc moved, what is deployed, what is proved and what an agent was given of its ticket is known to the daemon alone. */
const ofTheDaemon = [
  'workflow.rule.',
  'workflow.ticket.dispatch',
  'workflow.ticket.state_moved',
  'workflow.task.',
  'orchestrator.deploy.',
  'orchestrator.ticket.',
];

/** Decisions of a person, and the command for each. */
const decisions: ReadonlyMap<string, string> = new Map([
  ['orchestrator.deploy.retried', 'svc deploy retry <ticket>'],
  ['orchestrator.deploy.accepted', 'svc deploy accept <ticket>'],
  ['orchestrator.deploy.policy_relaxed', 'svc deploy policy relax <owner/repo>'],
  ['orchestrator.worker.retried', 'svc orchestrate retry <run> <ticket>'],
]);

export type HelperRefusal = { problem: string; remedy: string };

/** `svc <verb> <plain arguments>`: nothing that a shell would interpret. */
export function isPlainCommand(remedy: unknown): boolean {
  return (
    typeof remedy === 'string' &&
    remedy.length <= 200 &&
    /^svc(?: (?:--?)?[A-Za-z0-9][A-Za-z0-9._/:@#=-]*)+$/.test(remedy)
  );
}

export function isHelperTopic(topic: string): boolean {
  if (decisions.has(topic) || ofTheDaemon.some((family) => topic.startsWith(family))) return false;
  return families.some((family) => topic.startsWith(family));
}

/**
 * Why an event of a helper is refused; undefined when it is accepted. A helper may report a run that it orchestrates
 * itself; with a project, the daemon would orchestrate the run and start agents in that folder.
 */
export function helperRefusal({
  event,
  source,
  via,
  relay,
  detail,
}: Pick<EventFields, 'event' | 'source' | 'via' | 'relay' | 'detail'>): HelperRefusal | undefined {
  const command = decisions.get(event);
  if (command !== undefined)
    return {
      problem: `${event} is a decision of a person; a helper cannot report it.`,
      remedy: `Run: ${command}`,
    };
  const isOurs = via === 'local' && (source === 'cli' || source === 'orchestrator');
  if (!isOurs || !isHelperTopic(event))
    return {
      problem: `A helper cannot report ${event} from ${source}.`,
      remedy: 'See: svc events append --help',
    };
  // The tunnel continues from the newest position of a channel: deliveries before it would be missed.
  if (relay !== undefined)
    return {
      problem: `A helper cannot report ${event} with a relay position.`,
      remedy: 'Leave out relay.',
    };
  if (Object.hasOwn(detail, 'remedy') && !isPlainCommand(detail['remedy']))
    return {
      problem: `A helper cannot report ${event} with this remedy: a user may paste it into a shell.`,
      remedy: 'Use an svc command with plain arguments, such as: svc why ABC-1',
    };
  if (event.startsWith('orchestrator.run.') && Object.hasOwn(detail, 'project'))
    return {
      problem: `A helper cannot report ${event} with a project: the daemon would start its agents.`,
      remedy: 'Run in the project: svc orchestrate start <tickets…>',
    };
  return undefined;
}
