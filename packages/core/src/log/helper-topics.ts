// What a helper may report. What the code host and the tracker did, only their own deliveries can say, and
// of the daemon and of what its rules did only the daemon itself speaks: such a line has a command run.
// A person's word, and the folder in which a run's agents are started, have routes of their own, which look first.
import type { EventFields } from './event-line.ts';

const families = ['orchestrator.', 'workflow.', 'comms.', 'feedback.', 'archive.'];

/** A person's words, and the command that says each. */
const words: ReadonlyMap<string, string> = new Map([
  ['orchestrator.deploy.retried', 'svc deploy retry <ticket>'],
  ['orchestrator.deploy.accepted', 'svc deploy accept <ticket>'],
  ['orchestrator.worker.retried', 'svc orchestrate retry <run> <ticket>'],
]);

export type HelperRefusal = { problem: string; remedy: string };

/** `svc <verb> <plain words>`: nothing that a shell reads as anything but words. */
function isPlainCommand(remedy: unknown): boolean {
  return (
    typeof remedy === 'string' &&
    remedy.length <= 200 &&
    /^svc(?: (?:--?)?[A-Za-z0-9][A-Za-z0-9._/:@#=-]*)+$/.test(remedy)
  );
}

export function isHelperTopic(topic: string): boolean {
  if (words.has(topic) || topic.startsWith('workflow.rule.')) return false;
  return families.some((family) => topic.startsWith(family));
}

/**
 * Why a helper's fact is not taken; undefined when it is. A helper may tell of a run that it conducts itself; a
 * line that names a project would have the daemon conduct it, and start the agents of that folder.
 */
export function helperRefusal({
  event,
  source,
  via,
  relay,
  detail,
}: Pick<EventFields, 'event' | 'source' | 'via' | 'relay' | 'detail'>): HelperRefusal | undefined {
  const command = words.get(event);
  if (command !== undefined)
    return { problem: `${event} is a person's word and cannot be reported.`, remedy: `Say it: ${command}` };
  const isOurs = via === 'local' && (source === 'cli' || source === 'orchestrator');
  if (!isOurs || !isHelperTopic(event))
    return {
      problem: `A helper cannot report ${event} from ${source}.`,
      remedy: 'See: svc events append --help',
    };
  // The newest position of a channel is where the tunnel goes on: what came before it would be missed.
  if (relay !== undefined)
    return {
      problem: `A helper cannot report ${event} with a position of the relay.`,
      remedy: 'Leave relay out.',
    };
  if (Object.hasOwn(detail, 'remedy') && !isPlainCommand(detail['remedy']))
    return {
      problem: `A helper cannot report ${event} with that remedy: somebody will paste it.`,
      remedy: 'A remedy is a command of svc with plain words, such as: svc why ABC-1',
    };
  if (event.startsWith('orchestrator.run.') && Object.hasOwn(detail, 'project'))
    return {
      problem: `A helper cannot report ${event} with a project: the daemon would start its agents.`,
      remedy: 'In the project: svc orchestrate start <tickets…>',
    };
  return undefined;
}
