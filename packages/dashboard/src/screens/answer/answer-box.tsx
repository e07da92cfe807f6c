// The answer to what an agent waits for, wherever it is shown: its requests, or a reply if it has stopped and asks nothing
// that can be answered with a button.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { AgentView } from 'svc-monitor/src/features/agents/api.ts';
import type { WorkerAgent } from 'svc-monitor/src/features/workers/agent-fields.ts';
import { client } from '../../api/client.ts';
import { Failed } from '../../parts/states.tsx';
import { actor } from '../attention/your-name.ts';
import { AgentRequests } from './agent-requests.tsx';
import type { HasKeys } from './answer-keys.ts';
import type { Place } from './fits-in.ts';
import { Reply } from './reply.tsx';

export type AskingWorker = {
  ticket: string;
  orchestrator: string;
  needs: readonly string[];
  agent: WorkerAgent | null;
};
export type AskingSession = { key: string; agent: string; open: WorkerAgent['open'] };

type Shown = {
  place: Place;
  /** Whether its keys count now; null: it has none. */
  keys: HasKeys | null;
  disabledBecause: string | null;
};

/** Whether a person can answer the agent: a request is open, or it has stopped before its work was done. */
export function canBeAnswered(worker: AskingWorker): boolean {
  const { agent, needs } = worker;
  return agent?.protocol === true && (agent.open.length > 0 || needs.includes('agent-stopped'));
}

export function sendMessage(
  worker: Pick<AskingWorker, 'ticket' | 'orchestrator'>,
  text: string,
  key: string,
  images: readonly { name: string; data: string }[] = [],
) {
  return client.post('/api/workers/{ticket}/agent/message', {
    params: { ticket: worker.ticket },
    body: {
      text,
      key,
      orchestrator: worker.orchestrator,
      ...actor(),
      ...(images.length > 0 && { images: [...images] }),
    },
  });
}

/** The answer to a worker's agent. Nothing while it waits for nothing. */
export function WorkerAnswer({ worker, place, keys, disabledBecause }: Shown & { worker: AskingWorker }) {
  const { ticket, orchestrator, agent } = worker;
  const packet = usePacket(canBeAnswered(worker) ? worker : null);
  if (agent === null || !canBeAnswered(worker)) return null;
  if (agent.open.length === 0)
    return (
      <Reply
        of={`${orchestrator}/${ticket}`}
        name={agent.name}
        keys={keys}
        disabledBecause={disabledBecause}
        onSend={(text, key) => sendMessage(worker, text, key)}
      />
    );
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <AgentRequests
        of={`${orchestrator}/${ticket}`}
        name={agent.name}
        open={agent.open}
        items={packet.data?.items ?? null}
        place={place}
        keys={keys}
        elsewhere={<TicketLink ticket={ticket} run={orchestrator} />}
        disabledBecause={disabledBecause}
        onAnswer={(request, answer) =>
          client.post('/api/workers/{ticket}/agent/answer', {
            params: { ticket },
            body: { request, orchestrator, ...answer, ...actor() },
          })
        }
      />
      {packet.error !== null && packet.data === undefined && <Failed error={packet.error} />}
    </div>
  );
}

function TicketLink({ ticket, run }: { ticket: string; run: string }): ReactNode {
  return (
    <Link
      to="/tickets/$ticket"
      params={{ ticket }}
      search={{ run }}
      className="font-medium text-ink underline decoration-line-strong underline-offset-2 hover:decoration-current"
    >
      Too long to be shown here: read it and answer on the page of {ticket}
    </Link>
  );
}

/** How much of the conversation is beside a request. */
const NEWEST = 12;

/** The end of the conversation, with the tool calls that are asked about. It is loaded again when what is asked changes. */
export function usePacket(worker: AskingWorker | null) {
  const { ticket = '', orchestrator = '', agent = null } = worker ?? {};
  const asked = agent?.open.map(({ request }) => request).join(' ') ?? '';
  return useQuery<AgentView>({
    queryKey: ['agent-packet', orchestrator, ticket, agent?.attempt, asked, agent?.since],
    queryFn: ({ signal }) =>
      client.get('/api/workers/{ticket}/agent', {
        params: { ticket },
        query: { orchestrator, newest: NEWEST },
        signal,
      }),
    enabled: agent !== null,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** The answer to an agent that a person started, where its hook takes one. */
export function SessionAnswer({ session, keys, place, disabledBecause }: Shown & { session: AskingSession }) {
  return (
    <AgentRequests
      of={session.key}
      name={session.agent}
      open={session.open}
      items={[]}
      place={place}
      keys={keys}
      disabledBecause={disabledBecause}
      onAnswer={(request, { answer }) =>
        client.post('/api/sessions/answer', {
          // The request offers nothing else.
          body: {
            session: session.key,
            request,
            answer: answer === 'allow_once' ? answer : 'reject_once',
            ...actor(),
          },
        })
      }
    />
  );
}
