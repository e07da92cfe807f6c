// What an agent offers now, and its permission mode and model: they show what the agent has confirmed, never what was
// asked for.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import type { AgentOptions } from 'svc-monitor/src/features/agents/api.ts';
import type { WorkerAgent } from 'svc-monitor/src/features/workers/agent-fields.ts';
import { client } from '../../api/client.ts';
import { shownText } from '../../parts/agent-text.tsx';
import { Button } from '../../parts/button.tsx';
import { Failed } from '../../parts/states.tsx';
import { useSending } from '../answer/use-sending.ts';
import { actor } from '../attention/your-name.ts';
import { type Completion, commandsFor, filesFor, type Token } from './completions.ts';

type Of = { ticket: string; run: string; agent: WorkerAgent };
type Setting = 'mode' | 'model';

const FILES_STALE_MS = 10_000;

const isRunning = ({ state, suspended }: WorkerAgent): boolean =>
  state !== null && state !== 'starting' && state !== 'ended' && suspended === undefined;
const keyOf = ({ ticket, run, agent }: Of): unknown[] => ['agent-options', run, ticket, agent.attempt];

/** Undefined while they are not known: it is not running, or has just started. */
export function useAgentOptions(of: Of): AgentOptions | undefined {
  const { ticket, run, agent } = of;
  const { data } = useQuery({
    queryKey: [...keyOf(of), agent.mode, agent.model, agent.state === 'running'],
    queryFn: ({ signal }) =>
      client.get('/api/workers/{ticket}/agent/options', {
        params: { ticket },
        query: { orchestrator: run },
        signal,
      }),
    enabled: isRunning(agent),
    placeholderData: (before) => before,
    retry: false,
  });
  return isRunning(agent) ? data : undefined;
}

/** What can be written instead of the token: commands that the agent offers, files of the worktree. */
export function useCompletions(
  { ticket, run }: Pick<Of, 'ticket' | 'run'>,
  options: AgentOptions | undefined,
  token: Token | null,
): readonly Completion[] {
  const isFile = token?.kind === 'file';
  const query = isFile ? token.query : '';
  const { data } = useQuery({
    queryKey: ['worktree-files', run, ticket, query],
    queryFn: ({ signal }) =>
      client.get('/api/workers/{ticket}/files', {
        params: { ticket },
        query: { orchestrator: run, query },
        signal,
      }),
    enabled: isFile,
    placeholderData: (before) => before,
    staleTime: FILES_STALE_MS,
    retry: false,
  });
  if (token === null) return [];
  return isFile ? filesFor(data?.files ?? [], query) : commandsFor(options?.commands ?? [], token.query);
}

export function AgentSettings({
  options,
  disabledBecause,
  ...of
}: Of & { options: AgentOptions | undefined; disabledBecause: string | null }) {
  const queries = useQueryClient();
  const { busy, failure, send } = useSending();
  const [unconfirmed, setUnconfirmed] = useState<string | null>(null);
  const [result, setResult] = useState<string | null>(null);
  if (options === undefined || (options.modes.length < 2 && options.models.length < 2)) return null;
  const change = async (setting: Setting, value: string, confirm: boolean): Promise<void> => {
    setResult(null);
    setUnconfirmed(null);
    const isSent = await send(async () => {
      const { confirmed } = await client.post('/api/workers/{ticket}/agent/options', {
        params: { ticket: of.ticket },
        body: { setting, value, orchestrator: of.run, ...(confirm && { confirm }), ...actor() },
      });
      setResult(confirmed ? 'The agent has confirmed it.' : 'Sent. The agent has not confirmed it yet.');
    });
    if (isSent) await queries.invalidateQueries({ queryKey: keyOf(of) });
  };
  const choose = (setting: Setting, value: string): void => {
    setResult(null);
    const isRisky = setting === 'mode' && options.modes.some(({ id, confirm }) => id === value && confirm);
    if (isRisky) setUnconfirmed(value);
    else void change(setting, value, false);
  };
  const given = { isOff: busy || disabledBecause !== null, disabledBecause };
  const name = shownText(options.modes.find(({ id }) => id === unconfirmed)?.name.slice(0, 100) ?? '');
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2 text-small">
        <Choice
          label="Permission mode"
          value={options.mode}
          all={options.modes}
          {...given}
          onChange={(value) => choose('mode', value)}
        />
        <Choice
          label="Model"
          value={options.model}
          all={options.models}
          {...given}
          onChange={(value) => choose('model', value)}
        />
        <span role="status" className="text-muted text-tiny">
          {busy ? 'Asking the agent' : result}
        </span>
      </div>
      {unconfirmed !== null && (
        <div
          role="alert"
          className="flex flex-wrap items-center gap-3 rounded-control bg-you-soft p-3 text-small text-text"
        >
          <span className="min-w-0">
            svc does not know whether the agent still asks for permissions in the mode{' '}
            <span className="from-outside font-medium">{name}</span>.
          </span>
          <Button onClick={() => void change('mode', unconfirmed, true)}>
            <span className="from-outside truncate">Switch to {name}</span>
          </Button>
          <Button quiet onClick={() => setUnconfirmed(null)}>
            Cancel
          </Button>
        </div>
      )}
      {failure && <Failed error={failure} />}
    </div>
  );
}

function Choice({
  label,
  value,
  all,
  isOff,
  disabledBecause,
  onChange,
}: {
  label: string;
  /** Null: the agent does not report it. */
  value: string | null;
  all: readonly { id: string; name: string }[];
  isOff: boolean;
  disabledBecause: string | null;
  onChange: (value: string) => void;
}) {
  const id = useId();
  if (all.length < 2) return null;
  const isKnown = all.some((one) => one.id === value);
  return (
    <span className="flex min-w-0 items-center gap-2">
      <label htmlFor={id} className="text-muted">
        {label}
      </label>
      <select
        id={id}
        value={value ?? ''}
        disabled={isOff}
        title={disabledBecause ?? undefined}
        onChange={({ target }) => onChange(target.value)}
        className="h-8 min-w-0 max-w-56 rounded-control border border-line-strong bg-surface px-2 text-text max-wide:h-11"
      >
        {!isKnown && <option value={value ?? ''}>{shownText(value?.slice(0, 100) ?? 'unknown')}</option>}
        {all.map((one) => (
          <option key={one.id} value={one.id}>
            {shownText(one.name.slice(0, 100))}
          </option>
        ))}
      </select>
    </span>
  );
}
