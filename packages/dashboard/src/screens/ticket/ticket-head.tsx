// The header of a ticket's page: title, state, run, pull request and cost. What is not known is left out, except whether
// the process of an agent that should be working runs.
import { claimsPullRequest, isAgentsWork } from '@svc/contract/worker-statuses';
import { Link, useNavigate } from '@tanstack/react-router';
import { ExternalLink, GitPullRequest } from 'lucide-react';
import type { ReactNode } from 'react';
import { costText } from 'svc-monitor/src/features/agents/cost.ts';
import type { BoardView } from 'svc-monitor/src/features/board/api.ts';
import type { TeamWorkerView } from 'svc-monitor/src/features/board/team-entity.ts';
import { statusWords } from 'svc-monitor/src/features/workers/worker-label.ts';
import type { StateLabel } from 'svc-monitor/src/kernel/board/label.ts';
import { Ago, For } from '../../parts/age.tsx';
import { shownText } from '../../parts/agent-text.tsx';
import { countWords } from '../../parts/format.ts';
import { OutsideLink, OutsideText, safeAddress } from '../../parts/outside.tsx';
import { Pill } from '../../parts/pill.tsx';

type WorkerRow = TeamWorkerView;
type TicketRow = BoardView['tickets'][number];
type PullRequestRow = BoardView['pullRequests'][number];

export function TicketHead({
  ticket,
  worker,
  choices,
  tracked,
  pullRequest,
  label,
  aside,
}: {
  ticket: string;
  worker: WorkerRow | null;
  choices: readonly WorkerRow[];
  tracked: TicketRow | null;
  pullRequest: PullRequestRow | null;
  label: StateLabel | null;
  aside: ReactNode;
}) {
  const title = tracked?.title ?? pullRequest?.title ?? worker?.title ?? null;
  const repo = worker?.repo ?? pullRequest?.repo ?? null;
  return (
    <header className="mb-4 flex flex-col gap-3">
      <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
        <div className="flex min-w-0 flex-1 basis-96 flex-col gap-1">
          <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-small">
            <TicketName ticket={ticket} url={tracked?.url ?? null} />
            {label && <Pill meaning={label.meaning}>{label.words}</Pill>}
            {worker && <For at={worker.statusSince} className="text-muted" />}
          </p>
          <h1 className="line-clamp-3 text-title">
            <OutsideText>{title ?? ticket}</OutsideText>
          </h1>
        </div>
        <div className="flex flex-wrap gap-2">{aside}</div>
      </div>
      <dl className="flex flex-wrap gap-x-8 gap-y-3 text-small">
        {worker && (
          <Item name="Run">
            {choices.length > 1 ? (
              <RunChoice ticket={ticket} worker={worker} choices={choices} />
            ) : (
              <RunLink run={worker.orchestrator} />
            )}
          </Item>
        )}
        {worker?.wave !== null && worker?.wave !== undefined && <Item name="Wave">{worker.wave}</Item>}
        {repo !== null && (
          <Item name="Repository">
            <OutsideText>{repo}</OutsideText>
          </Item>
        )}
        <Item name="Pull request">
          <PullRequestName worker={worker} pullRequest={pullRequest} />
        </Item>
        {typeof tracked?.state?.name === 'string' && (
          <Item name="Tracker state">
            <OutsideText>{tracked.state.name}</OutsideText>
          </Item>
        )}
        {worker && <Spent cost={worker.cost} />}
        {worker && (worker.process.state !== 'unknown' || isAgentsWork(worker.status)) && (
          <Item name="Process">
            <Process process={worker.process} />
          </Item>
        )}
      </dl>
    </header>
  );
}

/** Left out as far as it is not known. */
function Spent({ cost }: { cost: WorkerRow['cost'] }) {
  if (cost === null) return null;
  const { inputTokens, outputTokens } = cost;
  return (
    <>
      {cost.usd !== null && <Item name="Cost">{costText(cost)}</Item>}
      {(inputTokens !== null || outputTokens !== null) && (
        <Item name="Tokens in, out">
          {countWords(inputTokens)}, {countWords(outputTokens)}
        </Item>
      )}
    </>
  );
}

function Item({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex min-w-0 flex-col">
      <dt className="text-tiny text-muted">{name}</dt>
      <dd className="min-w-0 text-ink">{children}</dd>
    </div>
  );
}

function TicketName({ ticket, url }: { ticket: string; url: string | null }) {
  if (safeAddress(url) === null) return <span className="font-mono font-medium text-ink">{ticket}</span>;
  return (
    <OutsideLink href={url} className="inline-flex items-center gap-1 font-mono font-medium text-ink">
      {ticket}
      <ExternalLink aria-label="in the tracker" className="size-3.5" />
    </OutsideLink>
  );
}

function RunLink({ run }: { run: string }) {
  return (
    <Link
      to="/runs/$run"
      params={{ run }}
      className="from-outside underline decoration-line-strong underline-offset-2 hover:decoration-current"
    >
      {shownText(run)}
    </Link>
  );
}

function RunChoice({
  ticket,
  worker,
  choices,
}: {
  ticket: string;
  worker: WorkerRow;
  choices: readonly WorkerRow[];
}) {
  const navigate = useNavigate();
  return (
    <select
      aria-label={`Run (${choices.length} have ${ticket})`}
      value={worker.orchestrator}
      onChange={({ target }) =>
        void navigate({
          to: '/tickets/$ticket',
          params: { ticket },
          search: (before) => ({ ...before, run: target.value }),
        })
      }
      className="h-8 max-w-full rounded-control border border-line-strong bg-surface px-2 text-small text-ink max-wide:h-11"
    >
      {choices.map(({ orchestrator, status }) => (
        <option key={orchestrator} value={orchestrator}>
          {orchestrator} ({statusWords(status).toLowerCase()})
        </option>
      ))}
    </select>
  );
}

function PullRequestName({
  worker,
  pullRequest,
}: {
  worker: WorkerRow | null;
  pullRequest: PullRequestRow | null;
}) {
  const number = pullRequest?.number ?? worker?.pr?.number ?? null;
  if (number === null) {
    const isClaimed = worker !== null && claimsPullRequest(worker.status);
    return <span className="text-muted">{isClaimed ? 'claimed, none was seen' : 'none yet'}</span>;
  }
  const state = pullRequest === null ? 'claimed' : pullRequest.draft === true ? 'draft' : pullRequest.state;
  return (
    <span className="inline-flex items-center gap-1.5">
      <GitPullRequest aria-hidden="true" className="size-4 text-muted" />
      <OutsideLink href={pullRequest?.url ?? worker?.pr?.url}>#{number}</OutsideLink>
      <span className="text-muted">{state}</span>
    </span>
  );
}

function Process({ process }: { process: WorkerRow['process'] }) {
  if (process.state === 'unknown') return <span className="text-unknown">unknown</span>;
  const isAlive = process.state === 'alive';
  return (
    <>
      {isAlive ? 'running' : process.reviving === true ? 'restarting, ended' : 'ended'}{' '}
      {isAlive ? <For at={process.since} /> : <Ago at={process.since} />}
    </>
  );
}
