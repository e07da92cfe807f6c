// The agent of a ticket: what it does, what it waits for, its conversation, and how a person steers it.
import { CircleDashed, CircleDot, CodeXml, ListChecks } from 'lucide-react';
import { Tabs } from 'radix-ui';
import { type ReactNode, useId, useMemo, useState } from 'react';
import { agentLabel } from 'svc-monitor/src/features/agents/agent-label.ts';
import type { WorktreeChanges } from 'svc-monitor/src/features/agents/api.ts';
import { usdText } from 'svc-monitor/src/features/agents/cost.ts';
import { planStatusWords } from 'svc-monitor/src/features/agents/item-words.ts';
import type { ConversationItem } from 'svc-monitor/src/features/agents/schemas.ts';
import type { WorkerAgent } from 'svc-monitor/src/features/workers/agent-fields.ts';
import { client } from '../../api/client.ts';
import { type AgentState, useAgent } from '../../live/agent-stream.ts';
import { For } from '../../parts/age.tsx';
import { shownText } from '../../parts/agent-text.tsx';
import { classNames } from '../../parts/class-names.ts';
import { LineCounts } from '../../parts/diff-box.tsx';
import { clockFromNow, countWords } from '../../parts/format.ts';
import { Panel } from '../../parts/panel.tsx';
import { Pill } from '../../parts/pill.tsx';
import { Failed, Loading } from '../../parts/states.tsx';
import { AgentRequests } from '../answer/agent-requests.tsx';
import { sendMessage } from '../answer/answer-box.tsx';
import { newKey } from '../answer/reply.tsx';
import { actor } from '../attention/your-name.ts';
import { AgentSettings, useAgentOptions, useCompletions } from './agent-settings.tsx';
import { Steering } from './agent-steering.tsx';
import type { SentImage } from './attached-images.tsx';
import { Attempts } from './attempts.tsx';
import { ChangesTab, useChanges } from './changes-tab.tsx';
import { Composer } from './composer.tsx';
import { Conversation } from './conversation.tsx';
import type { Comments } from './diff-list.tsx';

export function AgentPanel(given: {
  ticket: string;
  run: string;
  /** As the board has it, until the conversation has loaded. */
  agent: WorkerAgent;
  disabledBecause: string | null;
}) {
  return given.agent.protocol ? <Cockpit {...given} /> : <CommandLine {...given} />;
}

type Given = Parameters<typeof AgentPanel>[0];

/** svc cannot talk to it: only its name is known, and why, and what it changed. */
function CommandLine({ ticket, run, agent, disabledBecause }: Given) {
  const changes = useChanges(ticket, run, 0);
  const [comments, setComments] = useState<Comments>(new Map());
  return (
    <Panel title="Agent" flush aside={<EditorLink worktree={changes.data?.worktree} />}>
      <div className="border-line border-b px-4 py-3">
        <AgentFacts agent={agent} />
      </div>
      <ChangesTab
        changes={changes}
        comments={comments}
        onComments={setComments}
        disabledBecause={disabledBecause}
        onSend={null}
      />
    </Panel>
  );
}

function Cockpit({ ticket, run, agent: known, disabledBecause }: Given) {
  const state = useAgent(ticket, run);
  const agent = state.view?.agent ?? known;
  const { items } = state;
  const changes = useChanges(
    ticket,
    run,
    useMemo(() => items.filter(isEndedChange).length, [items]),
  );
  const [comments, setComments] = useState<Comments>(new Map());
  const options = useAgentOptions({ ticket, run, agent });
  const send = (text: string, key: string, images?: readonly SentImage[]) =>
    sendMessage({ ticket, orchestrator: run }, text, key, images);
  return (
    <Panel
      title="Agent"
      flush
      aside={
        <div className="flex flex-wrap items-center gap-2">
          <EditorLink worktree={changes.data?.worktree} />
          <Steering
            agent={agent}
            disabledBecause={disabledBecause}
            onResume={() => send('Continue.', newKey())}
            onStop={() =>
              client.post('/api/workers/{ticket}/agent/stop', {
                params: { ticket },
                body: { orchestrator: run, ...actor() },
              })
            }
          />
        </div>
      }
    >
      <div className="border-line border-b px-4 py-3">
        <AgentFacts agent={agent} />
      </div>
      {agent.open.length > 0 && (
        <div className="border-line border-b p-4">
          <AgentRequests
            of={`${run}/${ticket}`}
            name={agent.name}
            open={agent.open}
            items={state.view === null ? null : items}
            keys={always}
            disabledBecause={disabledBecause}
            onAnswer={(request, answer) =>
              client.post('/api/workers/{ticket}/agent/answer', {
                params: { ticket },
                body: { request, orchestrator: run, ...answer, ...actor() },
              })
            }
          />
        </div>
      )}
      <Plan items={items} />
      <Tabs.Root defaultValue="conversation">
        <Tabs.List aria-label="Agent" className="flex gap-1 border-line border-b px-3">
          <Tab value="conversation">Conversation</Tab>
          <Tab value="changes">
            Changes <Totals changes={changes.data} />
          </Tab>
        </Tabs.List>
        <Tabs.Content value="conversation">
          <Attempts ticket={ticket} run={run} newest={agent.attempt}>
            <ConversationTab state={state} />
          </Attempts>
        </Tabs.Content>
        <Tabs.Content value="changes">
          <ChangesTab
            changes={changes}
            comments={comments}
            onComments={setComments}
            disabledBecause={disabledBecause}
            onSend={(text) => send(text, newKey())}
          />
        </Tabs.Content>
      </Tabs.Root>
      <Composer
        waiting={state.view?.waiting ?? []}
        isBusy={agent.state === 'running' || agent.state === 'starting' || agent.open.length > 0}
        disabledBecause={disabledBecause}
        takesImages={agent.images === true}
        useCompletions={(token) => useCompletions({ ticket, run }, options, token)}
        settings={
          <AgentSettings
            ticket={ticket}
            run={run}
            agent={agent}
            options={options}
            disabledBecause={disabledBecause}
          />
        }
        onSend={send}
      />
    </Panel>
  );
}

/** The page is of one ticket: its keys answer its agent. */
const always = (): boolean => true;

const changing = new Set(['edit', 'execute', 'delete', 'move']);

function isEndedChange(item: ConversationItem): boolean {
  const isOver = item.kind === 'tool' && item.status !== 'pending' && item.status !== 'in_progress';
  return isOver && changing.has(item.toolKind);
}

function Totals({ changes }: { changes: WorktreeChanges | undefined }) {
  if (changes === undefined) return null;
  const sum = (name: 'added' | 'removed'): number =>
    changes.files.reduce((total, file) => total + (file[name] ?? 0), 0);
  return (
    <>
      <span className="rounded-full bg-sunken px-1.5 text-text text-tiny">
        {changes.files.length}
        {changes.cut && '+'}
        <span className="sr-only"> files</span>
      </span>
      {changes.files.length > 0 && <LineCounts added={sum('added')} removed={sum('removed')} />}
    </>
  );
}

/** The page may run on another machine than the worktree; then the editor shows that the folder does not exist. */
function EditorLink({ worktree }: { worktree: string | undefined }) {
  if (worktree === undefined) return null;
  const path = worktree.split('/').map(encodeURIComponent).join('/');
  return (
    <a
      href={`vscode://file${path.startsWith('/') ? '' : '/'}${path}`}
      title={worktree}
      className="inline-flex h-8 items-center gap-1.5 rounded-control border border-line bg-surface px-2.5 font-medium text-ink text-small hover:border-line-strong max-wide:h-11"
    >
      <CodeXml aria-hidden="true" className="size-4" />
      Open in editor
    </a>
  );
}

function Tab({ value, children }: { value: string; children: ReactNode }) {
  return (
    <Tabs.Trigger
      value={value}
      className="-mb-px flex h-10 items-center gap-2 border-transparent border-b-2 px-2 text-muted text-small -outline-offset-4 hover:text-ink data-[state=active]:border-ink data-[state=active]:font-medium data-[state=active]:text-ink max-wide:h-11"
    >
      {children}
    </Tabs.Trigger>
  );
}

function ConversationTab({ state }: { state: AgentState }) {
  const { view, items, earlier, failure, lost } = state;
  if (view === null)
    return (
      <div className="p-4">
        {failure === null ? <Loading what="the conversation" /> : <Failed error={failure} />}
      </div>
    );
  return (
    <>
      {(failure ?? lost) !== null && (
        <p role="status" className="bg-unknown-soft px-4 py-2 text-small text-unknown">
          Not live: {failure?.message ?? lost} Connecting again. These items were read before.
        </p>
      )}
      {items.length === 0 ? (
        <p className="p-4 text-muted">No conversation yet. It appears here with the first prompt.</p>
      ) : (
        <Conversation key={view.instanceId} items={items} earlier={earlier} journal={view.journal} />
      )}
    </>
  );
}

function AgentFacts({ agent }: { agent: WorkerAgent }) {
  const { meaning, words } = agentLabel(agent, clockFromNow);
  const { context, tokens, cost } = agent;
  return (
    <div className="flex flex-col gap-2">
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span className="from-outside font-medium text-ink">
          {shownText(agent.name)}
          {agent.version !== null && (
            <span className="font-normal text-muted"> {shownText(agent.version.slice(0, 60))}</span>
          )}
        </span>
        {meaning === null ? (
          <span className="text-muted text-small">{words}</span>
        ) : (
          <Pill meaning={meaning}>{words}</Pill>
        )}
        {agent.state !== null && <For at={agent.since} className="text-muted text-small" />}
        {agent.suspended && (
          <span className="text-muted text-small">It continues with your next message.</span>
        )}
        {agent.doing !== null && agent.state === 'running' && (
          <span className="from-outside min-w-0 max-w-full truncate text-small text-text">
            {shownText(agent.doing.slice(0, 300)).replaceAll('\n', ' ')}
          </span>
        )}
      </p>
      {agent.limit?.endedAt === null && (
        <p className="from-outside text-small text-text">{shownText(agent.limit.text.slice(0, 1_000))}</p>
      )}
      {agent.problem !== null && agent.limit?.endedAt !== null && (
        <p className="from-outside text-broken text-small">{shownText(agent.problem.slice(0, 1_000))}</p>
      )}
      {!agent.protocol && (
        <p className="text-muted text-small">
          It runs as a command line, so svc cannot see its state or talk to it.
          {agent.reason !== null && ` ${shownText(agent.reason.slice(0, 1_000))}`}
        </p>
      )}
      {agent.protocol && (
        <dl className="flex flex-wrap gap-x-8 gap-y-2 text-small">
          <Fact name="Mode">{agent.mode}</Fact>
          <Fact name="Model">{agent.model}</Fact>
          <Fact name="Context">
            {context &&
              `${countWords(context.used)} of ${countWords(context.size)}${context.size > 0 ? ` (${Math.round((100 * context.used) / context.size)} %)` : ''}`}
          </Fact>
          <Fact name="Tokens in, out">
            {tokens && `${countWords(tokens.input)}, ${countWords(tokens.output)}`}
          </Fact>
          <Fact name="Cost">{cost && amountWords(cost)}</Fact>
          <Fact name="Attempt">{String(agent.attempt)}</Fact>
        </dl>
      )}
    </div>
  );
}

function amountWords({ amount, currency }: { amount: number; currency: string }): string {
  return currency === 'USD' ? usdText(amount) : `${amount.toFixed(2)} ${currency.slice(0, 10)}`;
}

/** What the agent does not report is left out. */
function Fact({ name, children }: { name: string; children: string | null }) {
  if (children === null) return null;
  return (
    <div className="flex min-w-0 flex-col">
      <dt className="text-muted text-tiny">{name}</dt>
      <dd className="from-outside text-ink">{shownText(children.slice(0, 100))}</dd>
    </div>
  );
}

function Plan({ items }: { items: readonly ConversationItem[] }) {
  const plan = items.findLast(({ kind }) => kind === 'plan');
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  if (plan?.kind !== 'plan' || plan.entries.length === 0) return null;
  const { entries } = plan;
  const done = entries.filter(({ status }) => status === 'completed').length;
  const now = entries.find(({ status }) => status === 'in_progress');
  return (
    <section aria-label="Plan" className="border-line border-b px-4 py-2 text-small">
      <button
        type="button"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
        className="flex w-full min-w-0 items-center gap-3 text-left max-wide:min-h-11"
      >
        <ListChecks aria-hidden="true" className="size-4 shrink-0 text-muted" />
        <span className="shrink-0 text-ink">
          Plan: {done} of {entries.length} done
        </span>
        <progress
          aria-label="Plan"
          value={done}
          max={entries.length}
          className="h-1.5 w-24 shrink-0 appearance-none overflow-hidden rounded-full bg-sunken [&::-moz-progress-bar]:bg-line-strong [&::-webkit-progress-bar]:bg-sunken [&::-webkit-progress-value]:bg-line-strong"
        />
        {now && !isOpen && (
          <span className="from-outside min-w-0 truncate text-muted">Now: {shownText(now.content)}</span>
        )}
        <span className="ml-auto shrink-0 text-muted text-tiny">{isOpen ? 'Hide' : 'Show'}</span>
      </button>
      {isOpen && (
        <ol id={id} className="mt-1 flex max-h-64 flex-col gap-1 overflow-y-auto py-1">
          {entries.map(({ content, status }, index) => {
            const Icon =
              status === 'in_progress' ? CircleDot : status === 'completed' ? ListChecks : CircleDashed;
            return (
              // biome-ignore lint/suspicious/noArrayIndexKey: entries have no other name.
              <li key={index} className="flex items-start gap-2">
                <Icon
                  aria-hidden="true"
                  className={classNames(
                    'mt-0.5 size-4 shrink-0',
                    status === 'in_progress' ? 'text-motion' : 'text-muted',
                  )}
                />
                <span
                  className={classNames('from-outside', status === 'completed' ? 'text-muted' : 'text-text')}
                >
                  {shownText(content)}
                </span>
                <span className="from-outside ml-auto shrink-0 text-muted text-tiny">
                  {shownText(planStatusWords(status).slice(0, 40))}
                </span>
              </li>
            );
          })}
        </ol>
      )}
    </section>
  );
}
