// The words of the board for the status of a worker, for verbs whose answers have only the status.
import { shownStatus } from '@svc/contract/worker-statuses';
import type { DaemonClient } from '../../../cli/kit/daemon-client.ts';
import { workerText } from '../worker-label.ts';

type Named = { orchestrator: string | null; ticket: string; status: string };

/** `machine`: the id of the machine of the team that published it. One that the board does not have keeps its status. */
export async function readWorkerWords(
  daemon: DaemonClient,
  machine?: string,
): Promise<(worker: Named) => string> {
  const team = machine === undefined ? undefined : ('1' as const);
  const board = await daemon.get('/api/board', { query: { all: '1', team } });
  const published = board.team.flatMap((record) =>
    record.kind === 'worker' && record.machine === machine && record.value !== null ? [record.value] : [],
  );
  const workers = machine === undefined ? board.workers : published;
  return ({ orchestrator, ticket, status }) => {
    const worker = workers.find((one) => one.orchestrator === orchestrator && one.ticket === ticket);
    if (worker === undefined) return shownStatus(status);
    const pullRequest = board.pullRequests.find(({ key }) => key === worker.pullRequestKey);
    return workerText(worker, machine === undefined ? (pullRequest ?? null) : null);
  };
}
