// A ticket and its worker: trace, explanation, receipt, output and events.
import { useQueryClient } from '@tanstack/react-query';
import { Link, useParams, useSearch } from '@tanstack/react-router';
import { BellDot } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { reasonWords } from 'svc-monitor/src/features/attention/reason-words.ts';
import type { BoardView } from 'svc-monitor/src/features/board/api.ts';
import { isWaiting } from 'svc-monitor/src/features/board/board-columns.ts';
import type { Why } from 'svc-monitor/src/features/workers/api.ts';
import { workerLabel } from 'svc-monitor/src/features/workers/worker-label.ts';
import { ApiFailure } from '../../api/client.ts';
import type { LiveBoard } from '../../live/board-store.ts';
import { useDisabledBecause, useNow, useOwnBoard } from '../../live/live.tsx';
import { Ago, For } from '../../parts/age.tsx';
import { classNames } from '../../parts/class-names.ts';
import { EventLink } from '../../parts/event-link.tsx';
import { clockWords } from '../../parts/format.ts';
import { OutsideText } from '../../parts/outside.tsx';
import { ScreenHead } from '../../parts/panel.tsx';
import { Remedy } from '../../parts/remedy.tsx';
import { Empty, Loading } from '../../parts/states.tsx';
import { needsYou } from '../attention/inbox.ts';
import { ticketPanels } from '../panels.ts';
import { StartButton } from '../start/start-dialog.tsx';
import { AgentPanel } from './agent-panel.tsx';
import { FailedDeploy, failedDeployment } from './failed-deploy.tsx';
import { OutputPanel } from './output-panel.tsx';
import { ReceiptPanel } from './receipt-panel.tsx';
import { TicketHead } from './ticket-head.tsx';
import { TicketText } from './ticket-text.tsx';
import { useWhy, WhyPanel } from './why-panel.tsx';
import { WorkerActions } from './worker-actions.tsx';
import { WorkerEvents } from './worker-events.tsx';

// The worker that the page shows: the one of the run in the URL, else the one with the latest event.

type WorkerRow = BoardView['workers'][number];

type PickedWorker = {
  worker: WorkerRow | null;
  /** All workers of the ticket, newest first. */
  choices: WorkerRow[];
};

export function pickWorker(
  workers: Iterable<WorkerRow>,
  ticket: string,
  run: string | undefined,
): PickedWorker {
  const name = ticket.toUpperCase();
  const choices = [...workers]
    .filter((worker) => worker.ticket.toUpperCase() === name)
    .toSorted((one, other) => other.lastSeq - one.lastSeq);
  const worker = run === undefined ? choices[0] : choices.find(({ orchestrator }) => orchestrator === run);
  return { worker: worker ?? null, choices };
}

// The attention items of the ticket, with their fixes.

type AttentionRow = BoardView['attention'][number];

export function WorkerAttention({ items }: { items: readonly AttentionRow[] }) {
  const now = useNow();
  if (items.length === 0) return null;
  return (
    <ul aria-label="Needs you" className="flex flex-col gap-2">
      {items.map((item) => (
        <li
          key={item.id}
          className={classNames(
            'flex flex-col gap-2 rounded-card border px-4 py-3 text-small',
            isWaiting(item, now) ? 'border-you-mark bg-you-soft' : 'border-line bg-surface',
          )}
        >
          <p
            className={classNames('flex gap-2.5 text-body', isWaiting(item, now) ? 'text-you' : 'text-text')}
          >
            <BellDot aria-hidden="true" className="mt-0.5 size-4 shrink-0" />
            <OutsideText>{item.message}</OutsideText>
          </p>
          <div className="flex flex-wrap items-center gap-x-4 gap-y-1 pl-6.5 text-muted">
            <span>
              {reasonWords(item.reason)}, open <For at={item.openedAt} />
              {item.times > 1 && `, raised ${item.times} times`}
            </span>
            {item.acknowledged && (
              <span>
                acknowledged by <OutsideText>{item.acknowledged.by}</OutsideText>
              </span>
            )}
            {item.snoozedUntil !== null && Date.parse(item.snoozedUntil) > now && (
              <span>snoozed until {clockWords(Date.parse(item.snoozedUntil), now)}</span>
            )}
            <EventLink seq={item.evidence.at(-1) ?? item.openedSeq} />
            <Remedy text={item.remedy} />
            <Link
              to="/attention"
              search={{ id: item.id }}
              className="font-medium text-ink underline decoration-line-strong underline-offset-2"
            >
              Open in Attention
            </Link>
          </div>
        </li>
      ))}
    </ul>
  );
}

export function TicketScreen() {
  const { ticket } = useParams({ from: '/tickets/$ticket' });
  const { run, machine } = useSearch({ from: '/tickets/$ticket' });
  const { board, moment, loading } = useOwnBoard();
  const disabledBecause = useDisabledBecause();
  const now = useNow();
  const { worker, choices } = pickWorker(board.workers.values(), ticket, run);
  const name = ticket.toUpperCase();
  const tracked = [...board.tickets.values()].find((one) => one.ticket.toUpperCase() === name) ?? null;
  const pullRequest =
    (worker === null
      ? [...board.pullRequests.values()].find((one) => one.ticket?.toUpperCase() === name)
      : board.pullRequests.get(worker.pullRequestKey ?? '')) ?? null;
  const items = [...board.attention.values()].filter(
    (item) =>
      item.ticket?.toUpperCase() === name &&
      (worker === null || item.orchestrator === null || item.orchestrator === worker.orchestrator),
  );
  const shownRun = machine === undefined ? (run ?? worker?.orchestrator) : run;
  const { data: explained, error } = useWhy(ticket, shownRun, machine);
  const from = explained?.from;
  const published = from && publishedBy(board, from.id, explained);
  useRefreshTicket(
    ticket,
    `${worker?.lastSeq} ${pullRequest?.lastSeq} ${tracked?.lastSeq} ${worker?.statusSeq} ${published?.lastSeq}`,
  );

  const agent = worker?.agent ?? null;
  const failed = worker && failedDeployment(worker, board.deployments.values());
  const receipt = <ReceiptPanel ticket={ticket} run={shownRun} />;
  if (loading) return <Loading what="the board" lines={6} />;
  if (from !== undefined)
    return (
      <div className="mx-auto flex max-w-[100rem] flex-col">
        <TicketHead
          ticket={explained?.ticket ?? ticket}
          worker={published?.value ?? null}
          choices={[]}
          tracked={tracked}
          pullRequest={board.pullRequests.get(published?.value?.pullRequestKey ?? '') ?? null}
          label={published?.value ? workerLabel(published.value) : null}
          aside={null}
        />
        <div className="flex flex-col gap-4">
          <p className="rounded-control border border-unknown-mark border-dashed px-3 py-2 text-small text-unknown">
            Published by <OutsideText>{`${from.machine} (${from.person})`}</OutsideText>, received{' '}
            <Ago at={from.receivedAt} />.
          </p>
          <WhyPanel ticket={ticket} run={shownRun} machine={machine} />
        </div>
      </div>
    );
  if (machine !== undefined && error instanceof ApiFailure) return <Unknown ticket={ticket} error={error} />;
  const isKnown = worker !== null || tracked !== null || pullRequest !== null;
  // Only the daemon knows whether it is a ticket of another machine.
  if ((machine !== undefined || !isKnown) && explained === undefined && error === null)
    return <Loading what="the ticket" lines={6} />;
  // Settled tickets leave the board; only the daemon knows whether the ticket exists.
  if (!isKnown && error instanceof ApiFailure && error.code === 'unknown-ticket')
    return <Unknown ticket={ticket} error={error} />;
  return (
    <div className="mx-auto flex max-w-[100rem] flex-col">
      <TicketHead
        ticket={worker?.ticket ?? tracked?.ticket ?? ticket}
        worker={worker}
        choices={choices}
        tracked={tracked}
        pullRequest={pullRequest}
        label={worker && workerLabel(worker, needsYou(worker, board, now), pullRequest)}
        aside={
          worker !== null ? (
            <WorkerActions
              worker={worker}
              run={board.runs.get(worker.orchestrator) ?? null}
              disabledBecause={disabledBecause}
            />
          ) : (
            tracked !== null &&
            isOpen(tracked) && (
              <StartButton ticket={tracked} disabledBecause={disabledBecause} label="Start" />
            )
          )
        }
      />
      <div className="flex flex-col gap-4">
        <WorkerAttention items={items.filter(({ reason }) => !isInPanel(reason, agent))} />
        {!isKnown && (
          <p className="rounded-control border border-unknown-mark border-dashed px-3 py-2 text-small text-unknown">
            This ticket has settled and is no longer on the board. The details below come from the log.
          </p>
        )}
        {moment !== null && (
          <p className="rounded-control bg-sunken px-3 py-2 text-small text-muted">
            Only the header shows the past. Agent, trace, explanation, receipt, output and events are current.
          </p>
        )}
        {worker === null && tracked !== null && !tracked.removed && <TicketText ticket={tracked.ticket} />}
        {worker !== null && failed !== null && (
          <div className="flex flex-col gap-4 full:grid full:grid-cols-2 full:items-start">
            <FailedDeploy deployment={failed} attempts={worker.attempts} budget={worker.budget} />
            {receipt}
          </div>
        )}
        {worker !== null && agent !== null && (
          <AgentPanel
            key={worker.key}
            ticket={worker.ticket}
            run={worker.orchestrator}
            agent={agent}
            disabledBecause={disabledBecause}
          />
        )}
        {ticketPanels.map((Panel) => (
          <Panel
            key={Panel.displayName ?? Panel.name}
            ticket={ticket}
            run={shownRun}
            isProven={worker !== null && workerLabel(worker).meaning === 'proven'}
          />
        ))}
        <div className="flex flex-col gap-4 full:grid full:grid-cols-2 full:items-start">
          <div className="contents full:flex full:min-w-0 full:flex-col full:gap-4">
            <WhyPanel ticket={ticket} run={shownRun} />
            {shownRun !== undefined && agent?.protocol !== true && (
              <div className="max-full:order-2">
                <OutputPanel ticket={ticket} run={shownRun} />
              </div>
            )}
          </div>
          <div className="contents full:flex full:min-w-0 full:flex-col full:gap-4">
            {failed === null && <div className="max-full:order-1">{receipt}</div>}
            <div className="max-full:order-3">
              <WorkerEvents ticket={ticket} />
            </div>
          </div>
        </div>
      </div>
    </div>
  );
}

function isOpen({ removed, state }: BoardView['tickets'][number]): boolean {
  return !removed && state?.type !== 'completed' && state?.type !== 'canceled';
}

/** The record of the worker that was explained. */
function publishedBy(board: LiveBoard, machine: string, { ticket, orchestrator }: Why) {
  for (const record of board.team.values())
    if (
      record.kind === 'worker' &&
      record.machine === machine &&
      record.value?.ticket === ticket &&
      record.value.orchestrator === orchestrator
    )
      return record;
  return undefined;
}

/** An open request is answered in the agent's panel, so its attention item is not repeated above it. */
function isInPanel(reason: string, agent: WorkerRow['agent']): boolean {
  return agent !== null && agent.open.length > 0 && reason.startsWith('agent-needs-');
}

function Unknown({ ticket, error }: { ticket: string; error: ApiFailure }) {
  return (
    <div className="mx-auto flex max-w-[100rem] flex-col gap-4">
      <ScreenHead title={ticket} />
      <Empty title="Unknown ticket.">
        <p>{error.message} It appears here with its first event.</p>
        <Remedy text="Run: svc board" />
      </Empty>
      <WorkerEvents ticket={ticket} />
    </div>
  );
}

/** A burst of changes causes one request. */
const REFRESH_AFTER_MS = 300;

/** Reloads the ticket's queries when the board has a newer version of it. */
function useRefreshTicket(ticket: string, version: string): void {
  const queries = useQueryClient();
  const known = useRef(version);
  useEffect(() => {
    if (known.current === version) return undefined;
    const timer = setTimeout(() => {
      known.current = version;
      void queries.invalidateQueries({ queryKey: ['ticket', ticket] });
    }, REFRESH_AFTER_MS);
    return () => clearTimeout(timer);
  }, [queries, ticket, version]);
}
