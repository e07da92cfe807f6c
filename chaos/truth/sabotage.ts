// Faults that the comparison with the model has to notice, as data: each breaks one rule of the product from outside,
// where a wrong implementation would break it.
import type { Board } from '../../packages/monitor/src/kernel/board/board.ts';
import type { EventDraft } from '../../packages/monitor/src/kernel/log/event-line.ts';
import type { Answers, Kind } from './answers.ts';
import type { Delivery } from './codehost.ts';
import type { DaemonFault } from './daemon.ts';
import { sameName } from './model-policy.ts';
import type { Fault } from './process.ts';

export interface PlantedFault {
  what: string;
  /** One of these has to be reported more often than without the fault. */
  expected: Kind[];
  fault: () => Fault;
  /** The same around a real daemon, where that is possible. */
  atDaemon?: () => DaemonFault;
}

type Fields = Record<string, unknown>;
const proof: Kind[] = ['false done', 'false shipped', 'tracker done without proof'];

export const plantedFaults: readonly PlantedFault[] = [
  {
    what: 'ignores the environment of a status',
    expected: proof,
    fault: () => ({
      draft: (draft) =>
        draft.event.startsWith('codehost.deployment')
          ? { ...draft, scope: { ...draft.scope, environment: 'production' } }
          : draft,
    }),
  },
  {
    what: 'takes every status of a deployment for a success',
    expected: proof,
    fault: () => ({ delivery: asSuccess }),
    atDaemon: () => ({ delivery: asSuccess }),
  },
  {
    what: 'counts rollbacks and migrations as deployments',
    expected: proof,
    fault: () => ({
      delivery: changeObject('deployment', (deployment) => ({ ...deployment, task: 'deploy' })),
    }),
  },
  {
    what: 'takes the branch of a deleted fork for its own',
    expected: proof,
    fault: () => ({ delivery: changeObject('pull_request', ownHead) }),
  },
  {
    what: 'believes whatever pull request a signal file names',
    expected: proof,
    fault: () => ({ delivery: asClaimed }),
  },
  {
    what: 'counts a pull request that ended before the worker began',
    expected: proof,
    fault: () => ({
      delivery: changeObject('pull_request', (pullRequest) => ({
        ...pullRequest,
        merged_at: pullRequest['merged_at'] === null ? null : LATER,
        closed_at: pullRequest['closed_at'] === null ? null : LATER,
      })),
    }),
  },
  {
    what: 'does not look for reverts and discarded merges',
    expected: proof,
    fault: () => ({ contains: ({ isAncestor }) => isAncestor }),
  },
  {
    what: 'believes that nothing is taken out without a word',
    expected: proof,
    fault: () => ({ contains: ({ isAncestor, isClean, isSilent }) => isClean || (isAncestor && isSilent) }),
  },
  {
    what: 'takes every commit in production for one that contains the merge',
    expected: proof,
    fault: () => ({ contains: () => true }),
  },
  {
    what: 'lets every line of a helper through',
    expected: proof,
    fault: () => ({ acceptsHelper: () => true }),
  },
  {
    what: 'takes the laxest policy of several projects',
    expected: proof,
    fault: () => ({ draft: onPolicies(laxest) }),
  },
  {
    what: 'relaxes a repository that a file no longer names',
    expected: proof,
    fault: () => ({ draft: onPolicies(absenceRelaxes()) }),
  },
  {
    what: 'takes files that cannot be read for files without settings',
    expected: proof,
    fault: () => ({ draft: onPolicies((detail) => ({ ...detail, others: 'default' })) }),
  },
  {
    what: 'forgets the policies at a restart',
    expected: [...proof, 'restart changes the board'],
    fault: () => ({ restarted: (board) => forgetPolicies(board) }),
  },
  {
    what: 'moves the ticket at the merge',
    expected: ['tracker done without proof'],
    fault: () => ({
      effects: (effects) =>
        effects.flatMap((effect) =>
          effect.kind === 'write-signal' && effect.status === 'merged'
            ? [effect, { ...effect, kind: 'move-ticket', phase: 'done' }]
            : [effect],
        ),
    }),
  },
  {
    what: 'does not write done into the signal file',
    expected: ['answers differ'],
    fault: () => ({
      effects: (effects) =>
        effects.filter((effect) => effect.kind !== 'write-signal' || effect.status !== 'done'),
    }),
  },
  {
    what: 'answers the receipt from the status in the signal file',
    expected: ['answers differ', 'false shipped'],
    fault: () => ({ answers: bySignal }),
    atDaemon: () => ({ answers: bySignal }),
  },
  {
    what: 'never polls',
    expected: ['stuck'],
    fault: () => ({ isPolled: false }),
  },
];

function asSuccess(delivery: Delivery): Delivery {
  return changeObject('deployment_status', (status) => ({ ...status, state: 'success' }))(delivery);
}

function bySignal({ workers, tickets }: Answers): Answers {
  return {
    workers: workers.map((worker) => ({
      ...worker,
      receipt: { ...worker.receipt, isShipped: worker.signal === 'merged' || worker.receipt.isShipped },
    })),
    tickets,
  };
}

const LATER = '2027-01-01T00:00:00.000Z';

function changeObject(name: string, change: (fields: Fields, payload: Fields) => Fields) {
  return ({ type, payload }: Delivery): Delivery => {
    const fields = payload[name];
    return typeof fields === 'object' && fields !== null
      ? { type, payload: { ...payload, [name]: change(fields as Fields, payload) } }
      : { type, payload };
  };
}

function ownHead(pullRequest: Fields, payload: Fields): Fields {
  const head = pullRequest['head'] as Fields;
  const repository = payload['repository'] as { full_name: string };
  const [login] = repository.full_name.split('/');
  if (head['repo'] !== null) return pullRequest;
  return {
    ...pullRequest,
    head: { ...head, repo: repository, label: `${login}:${String(head['ref'])}`, user: { login } },
  };
}

/** The pull request that a worker names gets the worker's branch, ticket and time. */
function asClaimed(delivery: Delivery, board: Board): Delivery {
  const { payload } = delivery;
  const number = payload['number'];
  const named = [...board.workers.values()].find((worker) => worker.signal?.pr?.number === number);
  if (named === undefined || named.status === 'done') return delivery;
  return changeObject('pull_request', (pullRequest) => ({
    ...ownHead({ ...pullRequest, head: { ...(pullRequest['head'] as Fields), repo: null } }, payload),
    title: `${named.ticket} Change`,
  }))(delivery);
}

function onPolicies(change: (detail: Fields, board: Board) => Fields) {
  return (draft: EventDraft, board: Board): EventDraft =>
    draft.event === 'monitor.config.applied'
      ? ({ ...draft, detail: change(draft.detail, board) } as EventDraft)
      : draft;
}

/** By name of the repository. */
type Policies = Record<string, Fields>;

function relaxing(detail: Fields, names: Iterable<string>): Fields {
  const deploy = { ...(detail['deploy'] as Policies) };
  const relaxed = [...names];
  for (const name of relaxed)
    deploy[name] = { ...plainPolicy, ...deploy[name], skipDeployVerification: true };
  return { ...detail, deploy, relaxes: [...((detail['relaxes'] as string[] | undefined) ?? []), ...relaxed] };
}

const plainPolicy: Fields = {
  timeoutSec: 1800,
  productionEnvironment: 'production',
  stagingEnvironment: 'staging',
  acceptDescendants: true,
};

function laxest(detail: Fields, board: Board): Fields {
  const lax = new Set<string>();
  for (const { deploy } of board.projects.values())
    for (const [name, policy] of Object.entries(deploy))
      if (policy.skipDeployVerification === true) lax.add(sameName(name));
  const named = Object.keys(detail['deploy'] as Policies);
  return relaxing(
    detail,
    named.filter((name) => lax.has(sameName(name))),
  );
}

function absenceRelaxes(): (detail: Fields) => Fields {
  const before = new Map<unknown, string[]>();
  return (detail) => {
    const named = Object.keys(detail['deploy'] as Policies);
    const gone = (before.get(detail['project']) ?? []).filter((name) => !named.includes(name));
    before.set(detail['project'], named);
    return relaxing(detail, gone);
  };
}

function forgetPolicies(board: Board): void {
  board.projects.clear();
  if ('policies' in board && board.policies instanceof Map) board.policies.clear();
}
