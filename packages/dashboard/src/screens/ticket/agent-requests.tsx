// What the agent waits for: permissions, answered by the kind of an option that it offers, and questions with a form.
import type { AgentRequest, ConversationItem } from '@svc/core';
import { Hand, MessageCircleQuestion } from 'lucide-react';
import { type FormEvent, useId, useState } from 'react';
import { CodeBlock, shownText } from '../../parts/agent-text.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { DiffBox } from '../../parts/diff-box.tsx';
import { Failed } from '../../parts/states.tsx';
import { ToolIcon, type ToolItem } from './conversation.tsx';

type Kind = AgentRequest['options'][number]['kind'];
type Answer = { answer: Kind | 'accept' | 'decline'; content?: Content; confirm?: boolean };
type Content = Record<string, string | number | boolean>;

/** A request in progress: whether it is, and why the last one failed. */
export function useSending() {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Error | null>(null);
  const send = async (work: () => Promise<unknown>): Promise<boolean> => {
    setBusy(true);
    setFailure(null);
    try {
      await work();
      return true;
    } catch (error) {
      setFailure(error instanceof Error ? error : new Error(String(error)));
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { busy, failure, send };
}

export function AgentRequests({
  name,
  open,
  items = [],
  disabledBecause,
  onAnswer,
}: {
  name: string;
  open: readonly AgentRequest[];
  items?: readonly ConversationItem[];
  disabledBecause: string | null;
  onAnswer: (request: string, answer: Answer) => Promise<unknown>;
}) {
  return (
    <section aria-label="Open requests" aria-live="polite">
      {open.length > 0 && (
        <ul className="flex flex-col gap-3 border-line border-b p-4">
          {open.map((request) => (
            <li
              key={request.request}
              className="flex min-w-0 flex-col gap-3 rounded-card border border-you-mark border-l-3 bg-you-soft p-4"
            >
              <RequestCard
                name={name}
                request={request}
                tool={toolOf(request, items)}
                disabledBecause={disabledBecause}
                onAnswer={(answer) => onAnswer(request.request, answer)}
              />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function toolOf({ tool }: AgentRequest, items: readonly ConversationItem[]): ToolItem | undefined {
  if (tool === null) return undefined;
  const found = items.findLast(({ id }) => id === `tool:${tool}`);
  return found?.kind === 'tool' ? found : undefined;
}

type Given = {
  name: string;
  request: AgentRequest;
  tool: ToolItem | undefined;
  disabledBecause: string | null;
  onAnswer: (answer: Answer) => Promise<unknown>;
};

function RequestCard(given: Given) {
  const { request, name } = given;
  const isQuestion = request.kind === 'input';
  const Icon = isQuestion ? MessageCircleQuestion : Hand;
  return (
    <>
      <p className="flex items-center gap-2 font-medium text-small text-you">
        <Icon aria-hidden="true" className="size-4 shrink-0" />
        <span className="from-outside">
          {shownText(name)} {isQuestion ? 'asks a question' : 'asks for your permission'}
        </span>
      </p>
      {isQuestion ? <Question {...given} /> : <Permission {...given} />}
    </>
  );
}

function Wanted({ request, tool }: { request: AgentRequest; tool: ToolItem | undefined }) {
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <p className="flex items-start gap-2 text-body text-ink">
        <ToolIcon kind={request.toolKind} />
        <span className="from-outside min-w-0 font-medium">{shownText(request.title.slice(0, 1_000))}</span>
        {request.toolKind !== null && (
          <span className="from-outside shrink-0 pt-0.5 text-muted text-tiny">
            {shownText(request.toolKind.slice(0, 40))}
          </span>
        )}
      </p>
      {request.paths.length > 0 && (
        <ul aria-label="Paths" className="flex flex-col font-mono text-text text-tiny">
          {request.paths.map((path) => (
            <li key={path} className="from-outside">
              {shownText(path.slice(0, 1_000))}
            </li>
          ))}
        </ul>
      )}
      {request.command !== null && (
        <CodeBlock text={`$ ${shownText(request.command)}`} className="bg-surface" />
      )}
      {tool?.diffs.map((diff) => (
        <DiffBox key={diff.path} diff={diff} />
      ))}
    </div>
  );
}

const order: readonly Kind[] = ['allow_once', 'reject_once', 'allow_always', 'reject_always'];

function Permission({ request, tool, disabledBecause, onAnswer }: Given) {
  const { busy, failure, send } = useSending();
  const [sent, setSent] = useState<string | null>(null);
  const isOff = busy || sent !== null || disabledBecause !== null;
  const answer = async (kind: Kind, name: string): Promise<void> => {
    if (await send(() => onAnswer({ answer: kind }))) setSent(name);
  };
  // An answer names a kind, so each kind has one button.
  const options = order.flatMap((kind) => request.options.find((option) => option.kind === kind) ?? []);
  return (
    <>
      <Wanted request={request} tool={tool} />
      <div className="flex flex-wrap items-center gap-2">
        {options.map(({ kind, name: given }) => {
          const name = shownText(given.slice(0, 200));
          if (kind === 'allow_once' || kind === 'reject_once')
            return (
              <Button
                key={kind}
                loud={kind === 'allow_once'}
                disabled={isOff}
                title={disabledBecause ?? undefined}
                onClick={() => void answer(kind, name)}
                className="max-w-full"
              >
                <span className="from-outside truncate">{name}</span>
              </Button>
            );
          return (
            <Confirm
              key={kind}
              trigger={<span className="from-outside truncate">{name}</span>}
              title={kind === 'allow_always' ? 'Allow this always?' : 'Reject this always?'}
              label={kind === 'allow_always' ? 'Allow always' : 'Reject always'}
              disabledBecause={disabledBecause ?? (isOff ? 'The answer is being sent.' : null)}
              onConfirm={async () => {
                await onAnswer({ answer: kind, confirm: true });
                setSent(name);
              }}
            >
              <p>
                The agent calls this option <span className="from-outside font-medium">{name}</span>. It asked
                for:
              </p>
              <Wanted request={request} tool={undefined} />
              <p className="text-muted">
                The agent decides what else this {kind === 'allow_always' ? 'allows' : 'rejects'} and for how
                long. svc cannot show or limit it.
              </p>
            </Confirm>
          );
        })}
        {options.length === 0 && (
          <span className="text-small text-you">
            The agent offers no option that svc knows. Stop the agent, or send it a message.
          </span>
        )}
        <span role="status" className="text-small text-muted">
          {busy && 'Sending'}
          {sent !== null && `Sent: ${sent}. Waiting for the agent.`}
        </span>
      </div>
      {failure && <Failed error={failure} />}
    </>
  );
}

const field =
  'rounded-control border border-line-strong bg-surface px-2.5 py-1.5 text-body text-text disabled:opacity-60';

function Question({ request, disabledBecause, onAnswer }: Given) {
  const { busy, failure, send } = useSending();
  const [sent, setSent] = useState(false);
  const [given, setGiven] = useState<Record<string, string | boolean>>({});
  const id = useId();
  const isOff = busy || sent || disabledBecause !== null;
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const content = contentOf(request.fields, given);
    if (await send(() => onAnswer({ answer: 'accept', content }))) setSent(true);
  };
  const decline = async (): Promise<void> => {
    if (await send(() => onAnswer({ answer: 'decline' }))) setSent(true);
  };
  const put = (name: string, value: string | boolean): void =>
    setGiven((before) => ({ ...before, [name]: value }));
  return (
    <form onSubmit={(event) => void submit(event)} className="flex flex-col gap-3">
      <p className="from-outside whitespace-pre-wrap text-body text-ink">
        {shownText(request.title.slice(0, 2_000))}
      </p>
      {request.fields.map(({ name, title, type, choices, required }, index) => {
        const of = `${id}-${index}`;
        const value = given[name];
        const text = typeof value === 'string' ? value : '';
        const common = { id: of, required, disabled: isOff, className: field };
        return (
          <div key={name} className="flex max-w-xl flex-col gap-1">
            <label htmlFor={of} className="from-outside text-small text-text">
              {type === 'flag' && (
                <input
                  id={of}
                  type="checkbox"
                  disabled={isOff}
                  checked={value === true}
                  onChange={({ target }) => put(name, target.checked)}
                  className="mr-2 align-middle"
                />
              )}
              {shownText(title.slice(0, 400))}
              {!required && type !== 'flag' && <span className="text-muted"> (optional)</span>}
            </label>
            {type === 'choice' && (
              <select {...common} value={text} onChange={({ target }) => put(name, target.value)}>
                <option value="">Choose</option>
                {choices.map((choice) => (
                  <option key={choice} value={choice}>
                    {shownText(choice.slice(0, 200))}
                  </option>
                ))}
              </select>
            )}
            {type === 'text' && (
              <textarea
                {...common}
                rows={2}
                maxLength={10_000}
                value={text}
                onChange={({ target }) => put(name, target.value)}
              />
            )}
            {type === 'number' && (
              <input
                {...common}
                type="number"
                step="any"
                value={text}
                onChange={({ target }) => put(name, target.value)}
              />
            )}
          </div>
        );
      })}
      <div className="flex flex-wrap items-center gap-2">
        <Button type="submit" loud disabled={isOff} title={disabledBecause ?? undefined}>
          {busy ? 'Sending' : 'Send answer'}
        </Button>
        <Button disabled={isOff} onClick={() => void decline()}>
          Decline
        </Button>
        <span role="status" className="text-small text-muted">
          {sent && 'Sent. Waiting for the agent.'}
        </span>
      </div>
      {failure && <Failed error={failure} />}
    </form>
  );
}

/** A flag is always answered; a field that was left empty is left out. */
function contentOf(
  fields: AgentRequest['fields'],
  given: Readonly<Record<string, string | boolean>>,
): Content {
  const entries = fields.flatMap(({ name, type }): [string, string | number | boolean][] => {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (type === 'flag') return [[name, value === true]];
    if (typeof value !== 'string' || value === '') return [];
    return [[name, type === 'number' ? Number(value) : value]];
  });
  return Object.fromEntries(entries);
}
