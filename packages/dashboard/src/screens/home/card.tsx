// One card of the board. The whole card is one link; the tooltip explains its state.
import { Link } from '@tanstack/react-router';
import { Bot, GitPullRequest, Hand } from 'lucide-react';
import { memo, type ReactNode } from 'react';
import { agentLabel } from 'svc-monitor/src/features/agents/agent-label.ts';
import { costText } from 'svc-monitor/src/features/agents/cost.ts';
import type { BoardCard, BoardColumn } from 'svc-monitor/src/features/board/board-columns.ts';
import { cardLabel, errorsOf } from 'svc-monitor/src/features/board/card-label.ts';
import { deployLabel } from 'svc-monitor/src/features/deploy/deploy-label.ts';
import { checksLabel, reviewLabel } from 'svc-monitor/src/features/pull-requests/pull-request-label.ts';
import type { WorkerView } from 'svc-monitor/src/features/workers/entity.ts';
import type { Meaning, StateLabel } from 'svc-monitor/src/kernel/board/label.ts';
import { useChanged, useNow } from '../../live/live.tsx';
import { Age } from '../../parts/age.tsx';
import { classNames } from '../../parts/class-names.ts';
import { clockFromNow, clockWords } from '../../parts/format.ts';
import { textOf } from '../../parts/meaning.ts';
import { OutsideText, safeAddress } from '../../parts/outside.tsx';
import { Dot } from '../../parts/pill.tsx';
import { Tip } from '../../parts/tip.tsx';
import { OwnerLine, useOwner } from '../../shell/team.tsx';
import { hasAnswer } from './card-answer.tsx';
import { isShownBy, titleOf } from './card-words.ts';
import { type Step, type StepState, stateNames, stepsOf, stepWords } from './phase-steps.ts';

// The steps of a worker as a row of marks. Each state has its own shape, so it is readable without colour: done is a
// disc, current a ring with a dot, failed a cross, to do an empty ring, not proven a dashed ring.

const GAP = 16;
const RADIUS = 4;

/** `now` is the meaning of the current step. */
function StepRow({ steps, now }: { steps: readonly Step[]; now: Meaning }) {
  const width = (steps.length - 1) * GAP + 2 * RADIUS + 2;
  return (
    <svg
      role="img"
      aria-label={stepWords(steps)}
      viewBox={`0 0 ${width} 12`}
      width={width}
      height={12}
      className="shrink-0 fill-none stroke-2"
    >
      {steps.map((step, index) => (
        <g key={step.name} transform={`translate(${index * GAP + RADIUS + 1} 6)`}>
          <title>{`${step.name}: ${stateNames[step.state]}`}</title>
          {index > 0 && (
            <path
              d={`M${5 - GAP} 0H-5`}
              className={classNames(
                'stroke-1',
                step.state === 'ahead' ? 'stroke-line' : 'stroke-line-strong',
              )}
            />
          )}
          <Mark {...step} now={now} />
        </g>
      ))}
    </svg>
  );
}

const strokes: Record<Meaning, string> = {
  motion: 'stroke-motion-mark',
  you: 'stroke-you-mark',
  broken: 'stroke-broken-mark',
  proven: 'stroke-proven-mark',
  review: 'stroke-review-mark',
  unknown: 'stroke-unknown-mark',
};
const fills: Record<Meaning, string> = {
  motion: 'fill-motion-mark',
  you: 'fill-you-mark',
  broken: 'fill-broken-mark',
  proven: 'fill-proven-mark',
  review: 'fill-review-mark',
  unknown: 'fill-unknown-mark',
};

function Mark({ state, seen, now }: { state: StepState; seen: boolean; now: Meaning }) {
  switch (state) {
    case 'done':
      return <circle r={3.5} stroke="none" className={seen ? 'fill-proven-mark' : 'fill-line-strong'} />;
    case 'current':
      return (
        <>
          <circle r={4} className={classNames('stroke-[1.5]', strokes[now])} />
          <circle r={1.75} stroke="none" className={fills[now]} />
        </>
      );
    case 'failed':
      return <path d="M-3.25 -3.25 3.25 3.25M3.25 -3.25 -3.25 3.25" className="stroke-broken-mark" />;
    case 'skipped':
      return <circle r={3.5} strokeDasharray="2 1.6" className="stroke-1 stroke-unknown-mark" />;
    case 'ahead':
      return <circle r={3} className="stroke-1 stroke-line-strong opacity-60" />;
  }
}

// The tooltip of a card: the rule for its state, what it is waiting for, and inconsistencies.

function WhyNote({ card }: { card: BoardCard }) {
  const now = useNow();
  const { worker, pullRequest, attention } = card;
  const reasons = worker === null ? (pullRequest?.readiness.reasons ?? []) : [];
  return (
    <div className="flex flex-col gap-1.5">
      <p className="font-medium text-ink">{worker?.rule ?? 'No run works on this ticket.'}</p>
      {worker?.waitsFor && (
        <p>
          Waiting for <OutsideText>{worker.waitsFor}</OutsideText>
          {worker.until !== null && <>, until {clockWords(Date.parse(worker.until), now)}</>}.
        </p>
      )}
      {worker === null && pullRequest !== null && (
        <p>
          {pullRequest.readiness.ready === true ? (
            'Ready to merge.'
          ) : (
            <>
              Not ready to merge:{' '}
              <OutsideText>{reasons.length === 0 ? 'reason unknown' : reasons.join(', ')}</OutsideText>.
            </>
          )}
        </p>
      )}
      {worker?.error && (
        <p className="text-broken">
          <OutsideText>{worker.error}</OutsideText>
        </p>
      )}
      {attention.map(({ id, message }) => (
        <p key={id} className="text-you">
          <OutsideText>{message}</OutsideText>
        </p>
      ))}
      {worker?.contradictions.map((contradiction) => (
        <p key={contradiction} className="text-muted">
          Inconsistent: <OutsideText>{contradiction}</OutsideText>
        </p>
      ))}
    </div>
  );
}

/** `at` is the past time in the URL: links from a past board keep it. */
type Shown = { card: BoardCard; at: string | null };

/** The board creates new card objects after every event; a card with equal parts is not rendered again. */
export const Card = memo(function Card({ card, column, at }: Shown & { column: BoardColumn }) {
  const { worker, pullRequest, attention } = card;
  const needsYou = column === 'needs-you';
  const owner = useOwner(worker?.machine);
  const isOutdated = worker !== null && owner?.isSilent === true;
  const known = cardLabel(card, needsYou);
  // Not heard: what it does now is not known.
  const status = isOutdated ? { ...known, meaning: 'unknown' as const } : known;
  const [item] = attention;
  const isAnswered = hasAnswer(card, at);
  const errors = errorsOf(card);
  const steps = worker === null ? [] : stepsOf(worker);
  return (
    <CardLink
      card={card}
      at={at}
      className={classNames(
        'flex flex-col gap-1.5 rounded-card border border-line bg-surface p-3 text-small',
        isOutdated && 'border-unknown-mark border-dashed',
        needsYou && !isOutdated && 'border-l-3 border-l-you-mark hover:border-l-you-mark',
        isAnswered && 'rounded-b-none border-b-0',
        textOf[status.meaning],
      )}
    >
      <span className="flex items-baseline justify-between gap-2">
        <Name card={card} />
        <Age at={card.since} className="shrink-0 text-tiny text-muted" />
      </span>
      <Title card={card} className="line-clamp-2" />
      <span className="flex flex-wrap items-center gap-x-2 gap-y-1 text-tiny">
        {steps.some(({ state }) => state !== 'ahead') && <StepRow steps={steps} now={status.meaning} />}
        <span className="font-medium">{status.words}</span>
      </span>
      {worker !== null && worker.agent !== null && <AgentLine {...worker.agent} isAnswered={isAnswered} />}
      {needsYou && !(item !== undefined && isAskedAbove(item, worker)) && (
        <OutsideText className="line-clamp-3 text-tiny text-text">
          {item?.message ?? worker?.error}
        </OutsideText>
      )}
      {errors !== null && (
        <OutsideText className="line-clamp-3 whitespace-pre-line font-mono text-broken text-tiny">
          {errors}
        </OutsideText>
      )}
      {pullRequest !== null && <PullRequestLine {...pullRequest} />}
      {worker !== null && !isShownBy(item, 'deploy') && <Words {...deployLabel(worker)} />}
      {item !== undefined && <Handled {...item} />}
      {card.kind === 'worker' && item === undefined && <Snoozed until={card.snoozedUntil} />}
      {worker !== null && <OwnerLine owner={owner} />}
      <span className="flex justify-between gap-2 text-tiny text-muted">
        <OutsideText className="min-w-0 truncate">
          {worker?.orchestrator ?? (pullRequest?.author ? `by ${pullRequest.author}` : '')}
        </OutsideText>
        {worker !== null && isCostKnown(worker) && (
          <span className="shrink-0">
            <span className="sr-only">Cost </span>
            {costText(worker.cost)}
          </span>
        )}
      </span>
    </CardLink>
  );
}, isSameCard);

const isCostKnown = ({ cost }: Pick<WorkerView, 'cost'>): boolean => cost !== null && cost.usd !== null;

/** A finished ticket: two short lines. */
export const DoneRow = memo(function DoneRow({ card, at }: Shown) {
  const status = cardLabel(card, false);
  const owner = useOwner(card.worker?.machine);
  return (
    <CardLink
      card={card}
      at={at}
      className={classNames(
        'flex flex-col rounded-control border border-transparent px-2 py-1.5 text-small hover:bg-surface',
        textOf[status.meaning],
      )}
    >
      <span className="flex items-center gap-2">
        <Dot meaning={status.meaning} />
        <Name card={card} />
        <span className="sr-only">{status.words}</span>
        <Age at={card.since} className="ml-auto shrink-0 text-tiny text-muted" />
      </span>
      <Title card={card} className="truncate pl-4" />
      {owner !== null && card.worker !== null && (
        <span className="flex min-w-0 pl-4">
          <OwnerLine owner={owner} />
        </span>
      )}
    </CardLink>
  );
}, isSameCard);

function isSameCard(
  { card: one, ...before }: Shown & { column?: BoardColumn },
  { card: other, ...after }: Shown & { column?: BoardColumn },
): boolean {
  return (
    before.at === after.at &&
    before.column === after.column &&
    one.key === other.key &&
    one.since === other.since &&
    one.worker === other.worker &&
    one.pullRequest === other.pullRequest &&
    one.ticket === other.ticket &&
    (one.kind === 'worker' ? one.snoozedUntil : null) ===
      (other.kind === 'worker' ? other.snoozedUntil : null) &&
    one.attention.length === other.attention.length &&
    one.attention.every((item, index) => item === other.attention[index])
  );
}

/** The line of the agent shows the same request. */
function isAskedAbove({ reason }: BoardCard['attention'][number], worker: BoardCard['worker']): boolean {
  return reason.startsWith('agent-needs-') && (worker?.agent?.open.length ?? 0) > 0;
}

function Name({ card: { worker, pullRequest } }: { card: BoardCard }) {
  const ticket = worker?.ticket ?? pullRequest?.ticket ?? null;
  return (
    <OutsideText className="min-w-0 truncate font-semibold text-ink">
      {ticket ?? pullRequest?.name ?? 'unknown'}
    </OutsideText>
  );
}

function Title({ card, className }: { card: BoardCard; className: string }) {
  const title = titleOf(card);
  return (
    <OutsideText className={classNames(className, title === null ? 'text-muted' : 'text-text')}>
      {title ?? 'title unknown'}
    </OutsideText>
  );
}

function CardLink({ card, at, className, children }: Shown & { className: string; children: ReactNode }) {
  const machine = card.worker?.machine;
  const kind = card.kind === 'worker' ? 'workers' : 'pullRequests';
  const changed = useChanged(machine === undefined ? kind : 'team', card.key);
  const ticket = card.worker?.ticket ?? card.pullRequest?.ticket ?? null;
  const classes = classNames(
    className,
    'transition-colors hover:border-line-strong',
    changed && at === null && 'changed motion-reduce:outline-2 motion-reduce:outline-current',
  );
  const address = safeAddress(card.pullRequest?.url);
  if (ticket === null && address === null) return <span className={classes}>{children}</span>;
  return (
    <Tip note={<WhyNote card={card} />}>
      {ticket === null ? (
        <a href={address ?? undefined} target="_blank" rel="noopener noreferrer" className={classes}>
          {children}
        </a>
      ) : (
        <Link
          to="/tickets/$ticket"
          params={{ ticket }}
          search={{ run: card.worker?.orchestrator, machine, at: at ?? undefined }}
          className={classes}
        >
          {children}
        </Link>
      )}
    </Tip>
  );
}

function Words({ meaning, words }: Partial<StateLabel>) {
  if (meaning === undefined) return null;
  return <span className={classNames('text-tiny', textOf[meaning])}>{words}</span>;
}

/** A long text keeps its end, which may be what matters. The ticket's page has all of it. */
function withEnd(text: string): string {
  return text.length <= 120 ? text : `${text.slice(0, 70)} … ${text.slice(-50)}`;
}

/** What the agent does now, and whether it waits for a person. Of a command line only its name is known. */
function AgentLine({
  name,
  state,
  limit,
  suspended,
  doing,
  open,
  protocol,
  isAnswered,
}: NonNullable<WorkerView['agent']> & {
  /** What it asks for is below the card, with the answer. */
  isAnswered: boolean;
}) {
  const { meaning, words } = agentLabel({ state, limit, suspended }, clockFromNow);
  const isWaiting = meaning === 'you';
  const Icon = isWaiting ? Hand : Bot;
  const waitsFor = isAnswered ? null : (open[0]?.command ?? open[0]?.title ?? null);
  const now = isWaiting ? waitsFor : state === 'running' ? doing : null;
  return (
    <span
      className={classNames(
        'flex min-w-0 flex-col rounded-control text-tiny',
        isWaiting && 'bg-you-soft px-2 py-1 text-you',
      )}
    >
      <span className="flex min-w-0 items-start gap-1.5">
        <Icon aria-hidden="true" className={classNames('size-3.5 shrink-0', !isWaiting && 'text-muted')} />
        <span className="flex min-w-0 flex-wrap gap-x-1.5">
          <OutsideText className={classNames('max-w-full truncate', !isWaiting && 'text-text')}>
            {name}
          </OutsideText>
          {(protocol || state !== null || meaning !== 'unknown') && (
            <span className={classNames('min-w-0', meaning === null ? 'text-muted' : textOf[meaning])}>
              {words}
            </span>
          )}
        </span>
      </span>
      {now !== null && (
        <OutsideText className="line-clamp-2 pl-5 text-text">
          {withEnd(now).replaceAll('\n', ' ')}
        </OutsideText>
      )}
    </span>
  );
}

function PullRequestLine(pullRequest: NonNullable<BoardCard['pullRequest']>) {
  const isOpen = pullRequest.state === 'open';
  return (
    <span className="flex flex-wrap items-center gap-x-1.5 text-tiny">
      <GitPullRequest aria-hidden="true" className="size-3.5 text-muted" />
      <span className="text-text">
        <span className="sr-only">Pull request </span>#{pullRequest.number}
      </span>
      {isOpen && <Words {...checksLabel(pullRequest)} />}
      {isOpen && <Words {...reviewLabel(pullRequest)} />}
      {!isOpen && <span className="text-muted">{pullRequest.state}</span>}
    </span>
  );
}

/** It still needs a person: only its attention item is hidden. */
function Snoozed({ until }: { until: string | null }) {
  const now = useNow();
  if (until === null) return null;
  return <span className="text-tiny text-muted">snoozed until {clockWords(Date.parse(until), now)}</span>;
}

/** Who has the item, if anyone. */
function Handled({ acknowledged, handedOver }: BoardCard['attention'][number]) {
  if (handedOver) return <span className="text-tiny text-muted">handed over to {handedOver.to}</span>;
  return acknowledged && <span className="text-tiny text-muted">acknowledged by {acknowledged.by}</span>;
}
