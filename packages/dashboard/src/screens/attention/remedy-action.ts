// Which remedies the daemon can carry out itself: each is the command of a route. Everything else can only be
// copied. A remedy may come from outside, so that it is matched as a whole and never run as text.
import type { AttentionItem } from '@svc/core';
import { client } from '../../api/client.ts';

export type RemedyAction = {
  /** On the button. */
  label: string;
  /** In the question before it is done. */
  what: string;
  command: string;
  /** Asks the daemon to do it, in the name of the person. */
  send: (by: { by?: string }) => Promise<unknown>;
};

type Item = Pick<AttentionItem, 'remedy' | 'reason' | 'ticket' | 'orchestrator'>;

const name = '[A-Za-z0-9][A-Za-z0-9._-]{0,119}';
const commands: [pattern: RegExp, action: (item: Item, first: string, second: string) => RemedyAction][] = [
  [
    new RegExp(`^svc deploy (retry|accept) (${name})$`),
    (item, word, ticket) => deployWord(item, word === 'retry' ? word : 'accept', ticket),
  ],
  [new RegExp(`^svc orchestrate retry (${name}) (${name})$`), (_item, run, ticket) => runRetry(run, ticket)],
  [/^svc outbox retry (\S{1,500})$/, (_item, key) => outboxRetry(key)],
];

/** The command's action; null when it can only be copied. */
export function actionOfCommand(item: Item, command: string): RemedyAction | null {
  for (const [pattern, action] of commands) {
    const [whole, first = '', second = ''] = pattern.exec(command) ?? [];
    if (whole !== undefined) return action(item, first, second);
  }
  return null;
}

/**
 * What can be done about an item: its remedy, and what a person may do besides. `isConducted`: the daemon itself
 * conducts the item's run, so that it can start a worker anew.
 */
export function actionsOf(item: Item, { isConducted }: { isConducted: boolean }): RemedyAction[] {
  const { remedy, reason, ticket, orchestrator } = item;
  const offered = [remedy?.replace(/^Run: /, '') ?? ''];
  if (ticket !== null && (reason === 'deploy-timeout' || reason === 'deploy-budget-exhausted'))
    offered.push(`svc deploy accept ${ticket}`);
  if (ticket !== null && orchestrator !== null && isConducted && startsAnew.has(reason))
    offered.push(`svc orchestrate retry ${orchestrator} ${ticket}`);
  return [...new Set(offered)].flatMap((command) => actionOfCommand(item, command) ?? []);
}

const startsAnew: ReadonlySet<string> = new Set(['worker-dead', 'worker-stalled']);

/** The worker of the item's run, where the item is of that ticket. */
function deployWord(item: Item, word: 'retry' | 'accept', ticket: string): RemedyAction {
  const isOwn = item.ticket?.toUpperCase() === ticket.toUpperCase();
  const orchestrator = isOwn ? (item.orchestrator ?? undefined) : undefined;
  return {
    label: word === 'retry' ? `Retry the deploy of ${ticket}` : `Accept ${ticket} as done`,
    what:
      word === 'retry'
        ? `svc waits for a deployment of ${ticket} again, with a new budget and a new deadline. It does not deploy by itself.`
        : `${ticket} is called done without proof. Its receipt says that a person accepted it.`,
    command: `svc deploy ${word} ${ticket}`,
    send: (by) =>
      client.post('/api/workers/{ticket}/deploy', {
        params: { ticket },
        body: { word, orchestrator, ...by },
      }),
  };
}

function runRetry(run: string, ticket: string): RemedyAction {
  return {
    label: `Start ${ticket} again`,
    what: `A new agent is started for ${ticket} in the run ${run}.`,
    command: `svc orchestrate retry ${run} ${ticket}`,
    send: (by) => client.post('/api/runs/{run}/retry', { params: { run }, body: { ticket, ...by } }),
  };
}

function outboxRetry(key: string): RemedyAction {
  return {
    label: 'Try it again',
    what: `${key} is tried again.`,
    command: `svc outbox retry ${key}`,
    send: () => client.post('/api/outbox/retry', { body: { key } }),
  };
}
