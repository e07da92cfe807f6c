// What is on the board of a project until the first agent works in it: the open tickets, what is ready for them, and the
// command to run next.
import { useQuery } from '@tanstack/react-query';
import { CircleAlert, CircleCheck, CircleDashed, X } from 'lucide-react';
import { useState } from 'react';
import type { FirstStep } from 'svc-monitor/src/features/setup/first-steps.ts';
import { firstSteps, nextCommand } from 'svc-monitor/src/features/setup/first-steps.ts';
import { openTickets } from 'svc-monitor/src/features/tracker/dependencies.ts';
import { client } from '../../api/client.ts';
import { useBoard, useHealth } from '../../live/live.tsx';
import { Button } from '../../parts/button.tsx';
import { classNames } from '../../parts/class-names.ts';
import { OutsideText } from '../../parts/outside.tsx';
import { Remedy } from '../../parts/remedy.tsx';
import { OpenTickets } from '../runs/open-tickets.tsx';
import { hasPrefixOf, type Project } from './board-filter.ts';

const hiddenKey = (project: string): string => `svc.first-board.${project}`;
const isHidden = (project: string): boolean => localStorage.getItem(hiddenKey(project)) === 'hidden';
const MOST_TICKETS = 5;
const AGAIN_MS = 30_000;

/** `projects`: those without an agent yet, of all that are `served`; none is served on a new machine. */
export function FirstBoard({
  projects,
  served,
}: {
  projects: readonly Project[];
  served: readonly Project[];
}) {
  const [, setHidden] = useState(0);
  const shown = projects.filter(({ id }) => !isHidden(id));
  const hide = (): void => {
    for (const id of served.length === 0 ? [''] : shown.map((project) => project.id))
      localStorage.setItem(hiddenKey(id), 'hidden');
    setHidden((times) => times + 1);
  };
  if (served.length === 0 ? isHidden('') : shown.length === 0) return null;
  return <FirstSteps projects={shown} served={served} onHide={hide} />;
}

function FirstSteps({
  projects,
  served,
  onHide,
}: {
  projects: readonly Project[];
  served: readonly Project[];
  onHide: () => void;
}) {
  const { board } = useBoard();
  const { data: health } = useHealth();
  const project = projects.length === 1 ? projects[0]?.folder : undefined;
  const { data } = useQuery({
    queryKey: ['agents', project ?? null],
    queryFn: ({ signal }) => client.get('/api/agents', { query: { project }, signal }),
    refetchInterval: AGAIN_MS,
  });
  const known = { agents: data?.agents, health };
  const others = served.filter((one) => !projects.includes(one));
  /** Those of a project in which agents worked are left out. */
  const isOurs = ({ ticket }: { ticket: string }): boolean =>
    projects.some((one) => hasPrefixOf(ticket, one)) || !others.some((one) => hasPrefixOf(ticket, one));
  const tickets = openTickets({ tickets: board.tickets.values(), runs: board.runs.values() }).filter(isOurs);
  const names = others.length === 0 ? [] : projects.map(({ name, repo, id }) => name ?? repo ?? id);
  return (
    <section aria-labelledby="first-board" className="mb-6 rounded-card border border-line bg-surface p-4">
      <header className="flex items-start justify-between gap-3">
        <div>
          <h2 id="first-board" className="text-lead">
            Start your first agent
            {names.length > 0 && <OutsideText>{` in ${names.join(', ')}`}</OutsideText>}
          </h2>
          <p className="mt-1 text-small text-muted">
            Every ticket that an agent works on appears here as a card. This goes away once one does.
          </p>
        </div>
        <Button quiet onClick={onHide}>
          <X aria-hidden="true" className="size-3.5" />
          Hide
        </Button>
      </header>
      <div className="mt-4 grid items-start gap-4 full:grid-cols-2">
        <div className="min-w-0">
          {tickets.length > 0 ? (
            <OpenTickets first={MOST_TICKETS} isListed={isOurs} />
          ) : (
            <p className="rounded-card border border-line p-4 text-small text-muted">
              No open ticket was seen yet. Open tickets appear here a few minutes after they are created.
            </p>
          )}
        </div>
        <div className="min-w-0 rounded-card border border-line p-4">
          {data !== undefined && (
            <p className="mb-3 flex flex-wrap items-center gap-x-2 gap-y-1 border-line border-b pb-3 text-small">
              <span className="font-medium">Next:</span>
              <Remedy text={nextCommand({ ...known, ticket: tickets[0]?.ticket })} />
            </p>
          )}
          <ul aria-label="What is ready" className="flex flex-col gap-3">
            {data !== undefined && firstSteps(known).map((step) => <Step key={step.part} {...step} />)}
          </ul>
        </div>
      </div>
    </section>
  );
}

const icons = {
  ready: [CircleCheck, 'text-proven'],
  missing: [CircleAlert, 'text-you'],
  unknown: [CircleDashed, 'text-muted'],
} as const;

function Step({ state, words, remedy }: FirstStep) {
  const [Icon, colour] = icons[state];
  return (
    <li className="flex gap-2 text-small">
      <Icon aria-hidden="true" className={classNames('mt-0.5 size-4 shrink-0', colour)} />
      <div className="min-w-0 [overflow-wrap:anywhere]">
        <span className="sr-only">{state}: </span>
        <OutsideText>{words}</OutsideText>
        {remedy !== null && (
          <div className="mt-1">
            <Remedy text={remedy} />
          </div>
        )}
      </div>
    </li>
  );
}
