// What the agent waits for, and its answer: permissions, answered by the kind of an option that it offers, and questions
// with a form. On the ticket's page, beside an attention item and on a card of the board.
import { Hand, MessageCircleQuestion } from 'lucide-react';
import { type FormEvent, type ReactNode, useId, useRef, useState } from 'react';
import { cutRequest } from 'svc-monitor/src/features/agents/request-limit.ts';
import type { ConversationItem } from 'svc-monitor/src/features/agents/schemas.ts';
import type { AgentRequest } from 'svc-monitor/src/features/workers/agent-fields.ts';
import { CodeBlock, shownText } from '../../parts/agent-text.tsx';
import { Button } from '../../parts/button.tsx';
import { classNames } from '../../parts/class-names.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { DiffBox } from '../../parts/diff-box.tsx';
import { Key } from '../../parts/key.tsx';
import { Failed } from '../../parts/states.tsx';
import { ToolIcon, type ToolItem } from '../ticket/conversation.tsx';
import { type HasKeys, useAnswerKeys } from './answer-keys.ts';
import { fitsIn, type Place } from './fits-in.ts';
import { useSending } from './use-sending.ts';

type Kind = AgentRequest['options'][number]['kind'];
export type RequestAnswer = { answer: Kind | 'accept' | 'decline'; content?: Content; confirm?: boolean };
type Content = Record<string, string | number | boolean>;

export function AgentRequests({
  of,
  name,
  open,
  items,
  place = 'page',
  keys = null,
  elsewhere = null,
  disabledBecause,
  onAnswer,
}: {
  /** The key of the worker or session: a request has its id only within it. */
  of: string;
  name: string;
  open: readonly AgentRequest[];
  /** Where the diffs of the requests are; null while they are being loaded. */
  items: readonly ConversationItem[] | null;
  place?: Place;
  /** The first request is answered with `a` and `x` while this is true. */
  keys?: HasKeys | null;
  /** A link to the page on which a request is shown whole. */
  elsewhere?: ReactNode;
  disabledBecause: string | null;
  onAnswer: (request: string, answer: RequestAnswer) => Promise<unknown>;
}) {
  const isSmall = place !== 'page';
  return (
    <section aria-label={place === 'notice' ? undefined : 'Open requests'} aria-live="polite">
      {open.length > 0 && (
        <ul className={isSmall ? 'flex min-w-0 flex-col gap-2' : 'flex min-w-0 flex-col gap-3'}>
          {open.map((request, index) => (
            <li
              key={request.request}
              data-place={place}
              className={classNames(
                'flex min-w-0 flex-col bg-you-soft',
                isSmall
                  ? 'gap-2 rounded-control p-2 text-tiny'
                  : 'gap-3 rounded-card border border-you-mark border-l-3 p-4',
              )}
            >
              <RequestCard
                id={`${of} ${request.request}`}
                name={name}
                request={request}
                tool={toolOf(request, items ?? [])}
                isLoading={
                  items === null &&
                  request.tool !== null &&
                  (request.command === null || request.toolKind === 'edit')
                }
                place={place}
                keys={index === 0 ? keys : null}
                elsewhere={elsewhere}
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
  id: string;
  name: string;
  request: AgentRequest;
  tool: ToolItem | undefined;
  /** Its diff may not be here yet. */
  isLoading: boolean;
  place: Place;
  keys: HasKeys | null;
  elsewhere: ReactNode;
  disabledBecause: string | null;
  onAnswer: (answer: RequestAnswer) => Promise<unknown>;
};

function RequestCard(given: Given) {
  const { request, name, place } = given;
  const isQuestion = request.kind === 'input';
  const Icon = isQuestion ? MessageCircleQuestion : Hand;
  return (
    <>
      {/* On the board the card above says who asks, and in the notice its first line. */}
      {place === 'page' && (
        <p className="flex items-center gap-2 font-medium text-small text-you">
          <Icon aria-hidden="true" className="size-4 shrink-0" />
          <span className="from-outside">
            {shownText(name)} {isQuestion ? 'asks a question' : 'asks for your permission'}
          </span>
        </p>
      )}
      {isQuestion ? <Question {...given} /> : <Permission {...given} />}
    </>
  );
}

function Wanted({
  request,
  tool,
  place = 'page',
}: {
  request: AgentRequest;
  tool: ToolItem | undefined;
  place?: Place;
}) {
  const { title, command } = request;
  const isSmall = place !== 'page';
  // Many agents use the command as the title, and name the path in it; a diff has its path above it.
  const isTitled = command === null || !title.includes(command);
  const diffs = tool?.diffs ?? [];
  const paths = request.paths.filter(
    (path) => !(isTitled && title.includes(path)) && diffs.every((diff) => diff.path !== path),
  );
  return (
    <div className="flex min-w-0 flex-col gap-2">
      {isTitled && (
        <p className={classNames('flex items-start gap-2 text-ink', isSmall ? 'text-small' : 'text-body')}>
          <ToolIcon kind={request.toolKind} />
          <span className="from-outside min-w-0 font-medium">{shownText(title)}</span>
        </p>
      )}
      {paths.length > 0 && (
        <ul aria-label="Paths" className="flex flex-col font-mono text-text text-tiny">
          {paths.map((path) => (
            <li key={path} className="from-outside">
              {shownText(path.slice(0, 1_000))}
            </li>
          ))}
        </ul>
      )}
      {command !== null && (
        <CodeBlock
          text={`${command.startsWith('{') ? '' : '$ '}${shownText(command)}`}
          className="bg-surface"
        />
      )}
      {request.cut === true && (
        <p className="text-small text-text">
          {cutRequest.why} {cutRequest.fix}
        </p>
      )}
      {diffs.map((diff) => (
        <DiffBox key={diff.path} diff={diff} />
      ))}
    </div>
  );
}

const order: readonly Kind[] = ['allow_once', 'reject_once', 'allow_always', 'reject_always'];
const keyOf: Partial<Record<Kind, string>> = { allow_once: 'a', reject_once: 'x' };
function Permission(given: Given) {
  const { id, request, tool, isLoading, place, keys, elsewhere, disabledBecause, onAnswer } = given;
  const isNotice = place === 'notice';
  const { busy, failure, send } = useSending();
  const [sent, setSent] = useState<string | null>(null);
  const isOff = busy || sent !== null || disabledBecause !== null;
  const isTooLong = !fitsIn(place, request, tool?.diffs ?? []);
  const notAllowed = isLoading
    ? 'What it wants to change is being loaded.'
    : isTooLong
      ? 'It is too long to be shown here. Read it whole on the page of its ticket.'
      : null;
  const answer = async (kind: Kind, name: string): Promise<void> => {
    if (await send(() => onAnswer({ answer: kind }))) setSent(name);
  };
  // An answer names a kind, so each kind has one button.
  const kinds = isNotice ? order.filter((kind) => keyOf[kind] !== undefined) : order;
  const options = kinds.flatMap((kind) => request.options.find((option) => option.kind === kind) ?? []);
  const offReason = (kind: Kind) => disabledBecause ?? (kind.startsWith('allow') ? notAllowed : null);
  const byKey = (kind: Kind) => () => {
    const option = options.find((one) => one.kind === kind);
    if (option !== undefined && !isOff && offReason(kind) === null)
      void answer(kind, shownText(option.name.slice(0, 200)));
  };
  const acts = { a: byKey('allow_once'), x: byKey('reject_once') };
  const { has, isSeen } = useAnswerKeys(id, keys, acts, !isNotice);
  return (
    <>
      {isTooLong ? (
        <p className="text-small text-text">{elsewhere}</p>
      ) : (
        <Wanted request={request} tool={tool} place={place} />
      )}
      <div className="flex flex-wrap items-center gap-2">
        {options.map(({ kind, name: offered }) => {
          const name = shownText(offered.slice(0, 200));
          if (kind === 'allow_once' || kind === 'reject_once')
            return (
              <Button
                key={kind}
                loud={kind === 'allow_once'}
                disabled={isOff || offReason(kind) !== null}
                title={offReason(kind) ?? undefined}
                // The notice appears, and changes, under the pointer.
                onClick={() => (!isNotice || isSeen()) && void answer(kind, name)}
                className="max-w-full"
              >
                <span className="from-outside truncate">{name}</span>
                {has && <Key>{keyOf[kind] ?? ''}</Key>}
              </Button>
            );
          return (
            <Confirm
              key={kind}
              trigger={<span className="from-outside truncate">{name}</span>}
              title={kind === 'allow_always' ? 'Allow this always?' : 'Reject this always?'}
              label={kind === 'allow_always' ? 'Allow always' : 'Reject always'}
              disabledBecause={offReason(kind) ?? (isOff ? 'The answer is being sent.' : null)}
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
        {options.length === 0 && !isNotice && (
          <span className="text-small text-you">
            The agent offers no option that svc knows. Stop the agent, or send it a message.
          </span>
        )}
        <span role="status" className="text-small text-muted">
          {isLoading && 'Loading what it wants to change'}
          {busy && 'Sending'}
          {sent !== null && `Sent: ${sent}. Waiting for the agent.`}
        </span>
      </div>
      {failure && <Failed error={failure} />}
    </>
  );
}

const field =
  'w-full min-w-0 rounded-control border border-line-strong bg-surface px-2.5 py-1.5 text-body text-text disabled:opacity-60';

function Question({ id: requestId, request, keys, disabledBecause, onAnswer }: Given) {
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
  const form = useRef<HTMLFormElement>(null);
  const { has } = useAnswerKeys(requestId, keys, {
    a: () => form.current?.querySelector<HTMLElement>('input, textarea, select, button')?.focus(),
    x: () => !isOff && void decline(),
  });
  const put = (name: string, value: string | boolean): void =>
    setGiven((before) => ({ ...before, [name]: value }));
  return (
    <form ref={form} onSubmit={(event) => void submit(event)} className="flex min-w-0 flex-col gap-3">
      <p className="from-outside whitespace-pre-wrap text-body text-ink">
        {shownText(request.title.slice(0, 2_000))}
      </p>
      {request.fields.map(({ name, title, type, choices, required }, index) => {
        const of = `${id}-${index}`;
        const value = given[name];
        const text = typeof value === 'string' ? value : '';
        const common = { id: of, required, disabled: isOff, className: field };
        return (
          <div key={name} className="flex min-w-0 max-w-xl flex-col gap-1">
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
        <Button disabled={isOff} title={disabledBecause ?? undefined} onClick={() => void decline()}>
          Decline
          {has && <Key>x</Key>}
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
