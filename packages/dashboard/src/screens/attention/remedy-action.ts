// The fixes that the daemon can run itself: commands that have an API route. All others can only be copied. A fix may
// come from outside, so it must match as a whole and is never run as text.
import { client } from '../../api/client.ts';
import type { RemedyAction, RemedyCommand, RemedyItem } from '../../parts/remedy-command.ts';
import { remedies } from '../panels.ts';

const name = '[A-Za-z0-9][A-Za-z0-9._-]{0,119}';
const commands: readonly RemedyCommand[] = [
  [
    new RegExp(`^svc deploy (retry|accept) (${name})$`),
    (item, action, ticket) => deployDecision(item, action === 'retry' ? action : 'accept', ticket),
  ],
  [new RegExp(`^svc orchestrate retry (${name}) (${name})$`), (_item, run, ticket) => runRetry(run, ticket)],
  ...remedies,
];

/** The command's action; null if it can only be copied. */
export function actionOfCommand(item: RemedyItem, command: string): RemedyAction | null {
  for (const [pattern, action] of commands) {
    const [whole, first = '', second = ''] = pattern.exec(command) ?? [];
    if (whole !== undefined) return action(item, first, second);
  }
  return null;
}

/**
 * The actions for an item: its fix, and what else a person may do. `isManaged`: svc started the item's run, so it can
 * start its workers again.
 */
export function actionsOf(item: RemedyItem, { isManaged }: { isManaged: boolean }): RemedyAction[] {
  const { remedy, reason, ticket, orchestrator } = item;
  const offered = [remedy?.replace(/^Run: /, '') ?? ''];
  if (ticket !== null && (reason === 'deploy-timeout' || reason === 'deploy-budget-exhausted'))
    offered.push(`svc deploy accept ${ticket}`);
  if (ticket !== null && orchestrator !== null && isManaged && restartable.has(reason))
    offered.push(`svc orchestrate retry ${orchestrator} ${ticket}`);
  return [...new Set(offered)].flatMap((command) => actionOfCommand(item, command) ?? []);
}

const restartable: ReadonlySet<string> = new Set(['worker-dead', 'worker-stalled']);

/** For the worker in the item's run, if the item belongs to the same ticket. */
function deployDecision(item: RemedyItem, action: 'retry' | 'accept', ticket: string): RemedyAction {
  const isOwn = item.ticket?.toUpperCase() === ticket.toUpperCase();
  const orchestrator = isOwn ? (item.orchestrator ?? undefined) : undefined;
  return {
    label: action === 'retry' ? `Retry deploy of ${ticket}` : `Accept ${ticket} as done`,
    what:
      action === 'retry'
        ? `svc waits for a deployment of ${ticket} again, with new attempts and a new deadline. It does not start the deployment.`
        : `${ticket} is marked as done without proof. Its receipt records that a person accepted it.`,
    command: `svc deploy ${action} ${ticket}`,
    send: (by) =>
      client.post('/api/workers/{ticket}/deploy', {
        params: { ticket },
        body: { action, orchestrator, ...by },
      }),
  };
}

function runRetry(run: string, ticket: string): RemedyAction {
  return {
    label: `Restart ${ticket}`,
    what: `Starts a new agent for ${ticket} in run ${run}.`,
    command: `svc orchestrate retry ${run} ${ticket}`,
    send: (by) => client.post('/api/runs/{run}/retry', { params: { run }, body: { ticket, ...by } }),
  };
}
