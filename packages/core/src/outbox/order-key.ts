// Effects that must not overtake each other share an order key: they are carried out one at a time, in the
// order of their lines, and one that is retried holds back those behind it.
import type { Effect } from '../state/effect.ts';

/** `write-signal:run-1/ABC-1`; null for an effect whose place among the others does not matter. */
export function orderKeyOf(effect: Effect): string | null {
  switch (effect.kind) {
    case 'write-signal':
      return `write-signal:${effect.orchestrator}/${effect.ticket}`;
    case 'move-ticket':
      return `move-ticket:${effect.ticket}`;
    case 'append': {
      // What is raised and taken back about one subject stays in order.
      const { orchestrator, ticket, repo } = effect.draft.scope;
      return `append:${orchestrator ?? '-'}/${ticket ?? repo ?? '-'}`;
    }
    case 'file-remediation':
      return `file-remediation:${effect.orchestrator}/${effect.ticket}`;
    // One at a time for each rule: the same program does not run beside itself.
    case 'run-command':
      return `run-command:${effect.rule}`;
    // Messages stand beside each other; one that waits for an agent holds back none.
    case 'tell-worker':
    case 'refresh-pull-request':
    case 'prove-descendant':
    case 'notify':
    case 'notify-rule':
      return null;
  }
}
