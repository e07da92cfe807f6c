// Gives up deploys that are past their deadline. The deadline is stored with the worker, and its passing becomes an event
// in the log: nothing is remembered here, so a restart, a sleep or a clock change only affects when it is noticed. Before
// that, the code host is asked once more: what was missed still counts.
import { createLimit } from '@svc/lib/limit';
import { every } from '@svc/lib/rounds';
import { within } from '@svc/lib/timeout';
import type { EventDraft } from '../../../kernel/log/event-line.ts';
import { isWaitingForDeploy } from '../../workers/deploy-stage.ts';
import type { Worker } from '../../workers/worker.ts';
import { scopeOfWorker } from '../../workers/worker-attention.ts';

const EVERY_MS = 5_000;
const ASK_WITHIN_MS = 30_000;
/** Workers that are asked about at once, after a sleep during which many deadlines passed. */
const AT_ONCE = 8;

export type DeadlineWatch = {
  /** Checks now, or joins a check that is already running. */
  checkNow: () => Promise<void>;
  stop: () => Promise<void>;
};

export type DeadlineOptions = {
  /** All workers in the state. */
  workers: () => Iterable<Worker>;
  now: () => number;
  /** Asks the code host; resolves when its answer is in the state. Aborted after 30 s. */
  askAgain: (worker: Worker) => Promise<void>;
  /** `log.appendOnce` */
  append: (draft: EventDraft) => Promise<unknown>;
  onFailure: (error: unknown) => void;
  everyMs?: number;
  askWithinMs?: number;
};

export function watchDeadlines(options: DeadlineOptions): DeadlineWatch {
  const {
    workers,
    now,
    askAgain,
    append,
    onFailure,
    everyMs = EVERY_MS,
    askWithinMs = ASK_WITHIN_MS,
  } = options;
  const stopping = new AbortController();
  const limit = createLimit(AT_ONCE);

  const isOverdue = (worker: Worker): boolean =>
    isWaitingForDeploy(worker) && worker.deploy !== null && now() >= Date.parse(worker.deploy.deadline);

  /** A code host that does not answer must not keep a worker waiting forever. */
  async function askOnce(worker: Worker): Promise<void> {
    const asked = askAgain(worker).catch(onFailure);
    await within(asked, askWithinMs, () => undefined, stopping.signal);
  }

  async function giveUp(worker: Worker): Promise<void> {
    await askOnce(worker);
    if (stopping.signal.aborted) return;
    const latest = [...workers()].find(({ key }) => key === worker.key);
    if (latest !== undefined && isOverdue(latest)) await append(timedOut(latest));
  }

  const giveUpLimited = (worker: Worker): Promise<void> =>
    limit(async () => {
      if (!stopping.signal.aborted) await giveUp(worker);
    }).catch(onFailure);

  async function checkAll(): Promise<void> {
    const overdue = [...workers()].filter(isOverdue);
    await Promise.all(overdue.map(giveUpLimited));
  }

  const rounds = every(everyMs, checkAll, onFailure);
  return {
    checkNow: rounds.runNow,
    async stop() {
      stopping.abort();
      await rounds.stop();
    },
  };
}

function timedOut(worker: Worker): EventDraft {
  const { key, deploy, policy } = worker;
  const deadline = deploy?.deadline ?? '';
  return {
    event: 'orchestrator.deploy.timed_out',
    source: 'monitor',
    via: 'local',
    deliveryId: `deadline:${key}:${deadline}`,
    scope: { ...scopeOfWorker(worker), ...(deploy !== null && { environment: deploy.environment }) },
    detail: {
      deadline,
      timeoutSec: policy.timeoutSec,
      ...(deploy !== null && { attempts: deploy.attempts.length }),
    },
  };
}
