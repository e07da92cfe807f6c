// Starts an agent: for a task that a person describes, or for a ticket. Everything that is missing is shown before, each
// with its fix.
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Play } from 'lucide-react';
import { Dialog } from 'radix-ui';
import { type ReactNode, useState } from 'react';
import { agentToName } from 'svc-monitor/src/features/setup/first-steps.ts';
import { client } from '../../api/client.ts';
import { Button } from '../../parts/button.tsx';
import { OutsideText } from '../../parts/outside.tsx';
import { Remedy } from '../../parts/remedy.tsx';
import { Failed } from '../../parts/states.tsx';

const LONGEST = 20_000;
const fieldClass =
  'w-full rounded-control border border-line bg-surface px-2 text-small text-text hover:border-line-strong';

type Choice = { agent: string; model: string; mode: string };
const noChoice: Choice = { agent: '', model: '', mode: '' };

/** The button of a ticket that no agent works on. */
export function StartButton({
  ticket,
  disabledBecause,
  label,
}: {
  ticket: { ticket: string; title: string | null };
  disabledBecause: string | null;
  label: string;
}) {
  const [starting, setStarting] = useState(false);
  return (
    <>
      <Button
        disabled={disabledBecause !== null}
        title={disabledBecause ?? undefined}
        onClick={() => setStarting(true)}
      >
        <Play aria-hidden="true" className="size-4" />
        {label}
      </Button>
      {starting && <StartDialog ticket={ticket} onClose={() => setStarting(false)} />}
    </>
  );
}

/** `ticket`: the ticket that it starts; without one, a task is described. */
export function StartDialog({
  ticket,
  onClose,
}: {
  ticket?: { ticket: string; title: string | null };
  onClose: () => void;
}) {
  const navigate = useNavigate();
  const served = useProjects();
  const { data: projects = [], isPending } = served;
  const [text, setText] = useState('');
  const [chosenProject, setProject] = useState<string | null>(null);
  const [isLocal, setLocal] = useState(false);
  const [chosen, setChosen] = useState<Choice | null>(null);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Error | null>(null);
  // The same while the dialog is open: sending it twice creates no second ticket.
  const [key] = useState(() => crypto.randomUUID());
  const ofTicket = projects.find(
    ({ ticketPrefix }) => ticketPrefix !== null && ticket?.ticket.startsWith(`${ticketPrefix}-`),
  );
  const project = (ticket === undefined ? (chosenProject ?? projects[0]?.folder) : ofTicket?.folder) ?? null;
  const agents = useAgents(project);
  // Which agent is configured is known only for a project.
  const offered = project === null ? null : agentToName(agents.data ?? []);
  const choice = chosen ?? { ...noChoice, agent: offered ?? '' };
  const wanted = Object.fromEntries(Object.entries(choice).filter(([, value]) => value !== ''));
  const check = useQuery({
    queryKey: ['preflight', ticket?.ticket, project, isLocal, choice],
    queryFn: ({ signal }) =>
      client.post('/api/runs/preflight', {
        body: {
          ...(ticket === undefined
            ? { project: project ?? '', task: isLocal ? ('local' as const) : ('tracker' as const) }
            : { tickets: [ticket.ticket] }),
          ...wanted,
        },
        signal,
      }),
    enabled: !isPending && !agents.isPending && (ticket !== undefined || project !== null),
    placeholderData: (before) => before,
    refetchOnWindowFocus: true,
    retry: false,
  });
  const start = async (): Promise<void> => {
    setBusy(true);
    setFailure(null);
    try {
      const started =
        ticket === undefined
          ? await client.post('/api/tasks', {
              body: { project: project ?? '', text, local: isLocal, key, ...wanted },
            })
          : await client.post('/api/runs', { body: { tickets: [ticket.ticket], ...wanted } });
      onClose();
      const name = 'ticket' in started ? started.ticket : ticket?.ticket;
      if (name !== null && name !== undefined)
        await navigate({ to: '/tickets/$ticket', params: { ticket: name } });
    } catch (error) {
      setFailure(error instanceof Error ? error : new Error(String(error)));
    } finally {
      setBusy(false);
    }
  };
  const isWritten = ticket !== undefined || text.trim() !== '';
  const isReady = isWritten && check.data?.ready === true && !check.isFetching && !busy;
  const { tracker = null } = check.data ?? {};
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-sunken opacity-80" />
        <Dialog.Content
          aria-describedby={undefined}
          className="fixed top-1/2 left-1/2 z-50 flex max-h-[90dvh] w-[min(36rem,calc(100vw-2rem))] -translate-x-1/2 -translate-y-1/2 flex-col gap-3 overflow-y-auto rounded-card border border-line bg-raised p-5 shadow-float outline-none"
        >
          <Dialog.Title className="text-lead">
            {ticket === undefined ? 'New task' : <OutsideText>{`Start ${ticket.ticket}`}</OutsideText>}
          </Dialog.Title>
          {ticket === undefined ? (
            <Field label="What should be done?">
              <textarea
                rows={5}
                value={text}
                maxLength={LONGEST}
                placeholder="The first line is the title of the ticket."
                onChange={({ target }) => setText(target.value)}
                onKeyDown={(event) => {
                  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && isReady) void start();
                }}
                className={`${fieldClass} py-1.5 placeholder:text-muted`}
              />
            </Field>
          ) : (
            <p className="text-body">
              An agent starts in a new worktree, with your permissions, and works on “
              <OutsideText>{ticket.title ?? ticket.ticket}</OutsideText>”. It follows the text of the ticket:
              read it first if others can write tickets.
            </p>
          )}
          <div className="grid grid-cols-2 gap-3 max-wide:grid-cols-1">
            {ticket === undefined && projects.length > 1 && (
              <Field label="Repository">
                <Select
                  value={project ?? ''}
                  onChange={setProject}
                  options={projects.map(({ folder, repo, name, id }) => [folder, repo ?? name ?? id])}
                />
              </Field>
            )}
            {ticket === undefined && (
              <Field label="Ticket">
                <Select
                  value={isLocal || tracker === null ? 'local' : 'tracker'}
                  onChange={(value) => setLocal(value === 'local')}
                  options={[
                    ...(tracker === null ? [] : [['tracker', `In ${tracker}`] as const]),
                    ['local', 'Only here'],
                  ]}
                />
              </Field>
            )}
            <AgentFields
              agents={agents.data ?? []}
              choice={choice}
              onChange={setChosen}
              offered={check.data?.agents.find(({ name }) => name === choice.agent) ?? check.data?.agents[0]}
            />
          </div>
          {ticket === undefined && served.error !== null ? (
            <Failed error={served.error} again={() => void served.refetch()} />
          ) : ticket === undefined && !isPending && project === null ? (
            <NoProject />
          ) : (
            <Missing check={check} />
          )}
          {failure && <Failed error={failure} />}
          <div className="mt-1 flex flex-wrap justify-end gap-2">
            <Dialog.Close asChild>
              <Button quiet>Cancel</Button>
            </Dialog.Close>
            <Button loud disabled={!isReady} onClick={() => void start()}>
              {busy ? 'Starting' : 'Start'}
            </Button>
          </div>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function AgentFields({
  agents,
  choice,
  onChange,
  offered,
}: {
  agents: NonNullable<ReturnType<typeof useAgents>['data']>;
  choice: Choice;
  onChange: (choice: Choice) => void;
  /** What the agent answered when it was asked. */
  offered: { modes: string[]; models: string[]; mode: string | null } | undefined;
}) {
  const { agent, model, mode } = choice;
  return (
    <>
      <Field label="Agent">
        <Select
          value={agent}
          onChange={(value) => onChange({ ...noChoice, agent: value })}
          options={[
            ['', 'As configured'],
            ...agents.map(
              ({ name, program }) => [name, program === null ? `${name} (not installed)` : name] as const,
            ),
          ]}
        />
      </Field>
      <Field label="Model">
        <Select
          value={model}
          onChange={(value) => onChange({ ...choice, model: value })}
          options={[['', 'As configured'], ...named(offered?.models, model)]}
        />
      </Field>
      <Field label="Permission mode">
        <Select
          value={mode}
          onChange={(value) => onChange({ ...choice, mode: value })}
          options={[
            ['', mode === '' && offered?.mode ? `As configured (${offered.mode})` : 'As configured'],
            ...named(offered?.modes, mode),
          ]}
        />
      </Field>
    </>
  );
}

/** The chosen one stays in the list while the agent is asked again. */
function named(offered: readonly string[] = [], chosen: string): (readonly [string, string])[] {
  const all = chosen === '' ? offered : [...new Set([...offered, chosen])];
  return all.map((name) => [name, name] as const);
}

type Check = {
  data: { missing: Problem[]; notes: Problem[]; ready: boolean } | undefined;
  error: Error | null;
  isFetching: boolean;
  refetch: () => unknown;
};
type Problem = { problem: string; remedy: string };

/** Nothing can be checked, so nothing is known to be ready. */
function NoProject() {
  return (
    <section aria-label="What is missing" aria-live="polite" className="flex flex-col items-start gap-1">
      <p className="text-small text-muted">
        svc has no project on this machine yet, so no agent can start. In your repository:
      </p>
      <Remedy text="svc init" />
    </section>
  );
}

function Missing({ check: { data, error, isFetching, refetch } }: { check: Check }) {
  if (error !== null) return <Failed error={error} again={() => void refetch()} />;
  const problems = [...(data?.missing ?? []), ...(data?.notes ?? [])];
  const missing = data?.missing.length ?? 0;
  // Without an answer it is still being asked, or what comes before it is.
  const isChecking = isFetching || data === undefined;
  return (
    <section aria-label="What is missing" aria-live="polite" className="flex flex-col gap-2">
      <p className="flex items-center justify-between gap-2 text-small text-muted">
        {isChecking
          ? 'Checking the agent, the branch, the tracker and gh'
          : missing > 0
            ? `${missing === 1 ? 'One thing is' : `${missing} things are`} missing:`
            : 'Ready: nothing is missing.'}
        {!isChecking && (
          <Button quiet onClick={() => void refetch()}>
            Check again
          </Button>
        )}
      </p>
      <ul className="flex flex-col gap-2">
        {problems.map(({ problem, remedy }, index) => (
          <li
            key={problem}
            className={`flex flex-col items-start gap-1 rounded-card border p-3 text-small ${
              index < missing ? 'border-broken-mark bg-broken-soft' : 'border-line'
            }`}
          >
            <p className="[overflow-wrap:anywhere]">
              <OutsideText>{problem}</OutsideText>
            </p>
            <Remedy text={remedy} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Field({ label, children }: { label: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is its child.
    <label className="flex min-w-0 flex-col gap-1 text-tiny text-muted">
      {label}
      {children}
    </label>
  );
}

function Select({
  value,
  onChange,
  options,
}: {
  value: string;
  onChange: (value: string) => void;
  options: readonly (readonly [value: string, text: string])[];
}) {
  return (
    <select
      value={value}
      onChange={({ target }) => onChange(target.value)}
      className={`${fieldClass} h-8 max-wide:h-11`}
    >
      {options.map(([one, text]) => (
        <option key={one} value={one}>
          {text}
        </option>
      ))}
    </select>
  );
}

function useAgents(project: string | null) {
  return useQuery({
    queryKey: ['agents', project],
    queryFn: ({ signal }) =>
      client.get('/api/agents', { query: project === null ? {} : { project }, signal }),
    staleTime: 60_000,
    select: ({ agents }) => agents,
  });
}

function useProjects() {
  return useQuery({
    queryKey: ['projects'],
    queryFn: ({ signal }) => client.get('/api/projects', { signal }),
    staleTime: 60_000,
    select: ({ projects }) => projects,
  });
}
