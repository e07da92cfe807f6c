// What a person needs to decide about an item, beside it: the answer to its agent, the end of the conversation, and links
// to its pull request and to the log of its deployment.
import type { ReactNode } from 'react';
import type { ConversationItem } from 'svc-monitor/src/features/agents/schemas.ts';
import type { LiveBoard } from '../../live/board-store.ts';
import { AgentText, shownText } from '../../parts/agent-text.tsx';
import { OutsideLink, OutsideText } from '../../parts/outside.tsx';
import { canBeAnswered, SessionAnswer, usePacket, WorkerAnswer } from '../answer/answer-box.tsx';
import type { Item } from './item-row.tsx';

type WorkerRow = LiveBoard['workers'] extends ReadonlyMap<string, infer Row> ? Row : never;

/** Reasons whose answer is in the agent's conversation. */
function isAboutAgent({ reason }: Item): boolean {
  return reason.startsWith('agent-');
}

/** What the item is about, of this machine: another one does not share what its agents write. */
export function subjectOf(item: Item, { workers, sessions }: Pick<LiveBoard, 'workers' | 'sessions'>) {
  if (item.machine !== undefined) return { worker: undefined, session: undefined };
  const worker = workers.get(`${item.orchestrator}/${item.ticket}`);
  return { worker, session: sessions.get(item.session ?? '') };
}

/** Whether the item is answered where it is shown. */
export function isAnsweredHere(item: Item, board: Pick<LiveBoard, 'workers' | 'sessions'>): boolean {
  const { worker, session } = subjectOf(item, board);
  if (!isAboutAgent(item)) return false;
  return (worker !== undefined && canBeAnswered(worker)) || (session?.open.length ?? 0) > 0;
}

const always = (): boolean => true;

/** At a past time nothing can be answered, and the conversation is the current one: it is left out. */
export function ItemPacket({
  item,
  board,
  isPast,
  disabledBecause,
}: {
  item: Item;
  board: LiveBoard;
  isPast: boolean;
  disabledBecause: string | null;
}) {
  const { worker, session } = subjectOf(item, board);
  const isAgents = isAboutAgent(item) && !isPast;
  const isAsking = (worker?.agent?.open.length ?? 0) > 0;
  const lastWords = worker?.agent?.protocol === true && (
    <LastWords worker={worker} message={canBeAnswered(worker) && !isAsking ? item.message : null} />
  );
  return (
    <>
      {isAgents && worker !== undefined && (
        <>
          {/* What it said last is what is replied to; a request is answered first. */}
          {!isAsking && lastWords}
          {canBeAnswered(worker) && (
            <WorkerAnswer worker={worker} place="page" keys={always} disabledBecause={disabledBecause} />
          )}
          {isAsking && lastWords}
        </>
      )}
      {isAgents && session !== undefined && session.open.length > 0 && (
        <SessionAnswer session={session} place="page" keys={always} disabledBecause={disabledBecause} />
      )}
      {worker !== undefined && <Links item={item} worker={worker} board={board} />}
    </>
  );
}

/** How many parts of the conversation are shown. */
const SHOWN = 4;
const LONGEST = 2_000;

type Said = Extract<ConversationItem, { kind: 'prompt' | 'tool' } | { kind: 'message' | 'thought' }>;

/** The newest messages and tool calls, without what is asked about: that is shown above them. */
export function newestSaid(items: readonly ConversationItem[], asked: readonly (string | null)[]): Said[] {
  const isShown = (item: ConversationItem): item is Said =>
    (item.kind === 'prompt' && item.by !== 'svc') ||
    item.kind === 'message' ||
    (item.kind === 'tool' && !asked.some((tool) => item.id === `tool:${tool}`));
  return items.filter(isShown).slice(-SHOWN);
}

/** `message` is of the item, which usually has the start of the last message. */
function LastWords({ worker, message }: { worker: WorkerRow; message: string | null }) {
  const { data } = usePacket(worker);
  const said = newestSaid(data?.items ?? [], worker.agent?.open.map(({ tool }) => tool) ?? []);
  const isSaid = worker.agent?.problem === null && said.some(({ kind }) => kind === 'message');
  const why = message !== null && !isSaid && (
    <OutsideText className="text-body text-text">{message}</OutsideText>
  );
  if (said.length === 0) return why;
  return (
    <>
      {why}
      <section aria-label="Last of the conversation" className="flex flex-col gap-2">
        <h3 className="text-muted text-small">Last of the conversation</h3>
        <ol className="flex max-h-72 flex-col gap-2 overflow-y-auto border-line border-l-2 pl-3 text-small">
          {said.map((item) => (
            <li key={item.id}>
              {item.kind === 'tool' ? (
                <span className="from-outside text-muted">
                  {shownText((item.command ?? item.title).slice(0, 200)).replaceAll('\n', ' ')}
                  {item.exitCode !== null && item.exitCode !== 0 && `, exit code ${item.exitCode}`}
                </span>
              ) : (
                <>
                  {item.kind === 'prompt' && (
                    <span className="from-outside text-muted text-tiny">
                      {shownText(item.by ?? 'unknown')}:
                    </span>
                  )}
                  <AgentText text={item.text.slice(-LONGEST)} />
                </>
              )}
            </li>
          ))}
        </ol>
      </section>
    </>
  );
}

const link =
  'font-medium text-ink underline decoration-line-strong underline-offset-2 hover:decoration-current';

function Links({ item, worker, board }: { item: Item; worker: WorkerRow; board: LiveBoard }) {
  const pullRequest = board.pullRequests.get(worker.pullRequestKey ?? '');
  const isDeploy = item.reason.startsWith('deploy-') || item.reason === 'done-unproven';
  const log = isDeploy ? deployLog(worker, board) : null;
  const links: ReactNode[] = [];
  if (pullRequest !== undefined)
    links.push(
      <OutsideLink key="pull-request" href={pullRequest.url} className={link}>
        {`Pull request #${pullRequest.number}`}
      </OutsideLink>,
    );
  if (log !== null)
    links.push(
      <OutsideLink key="log" href={log} className={link}>
        Log of the deployment
      </OutsideLink>,
    );
  if (links.length === 0) return null;
  return <p className="flex flex-wrap gap-x-5 gap-y-1 text-small">{links}</p>;
}

/** The log of the newest deployment of the worker's merge, or else of its last failed one. */
export function deployLog(
  { repo, deploy }: Pick<WorkerRow, 'repo' | 'deploy'>,
  { deployments }: Pick<LiveBoard, 'deployments'>,
): string | null {
  const newest = [...deployments.values()].find(
    (one) => one.id === deploy?.deploymentId && (repo === null || one.repo === repo),
  );
  return newest?.logUrl ?? deploy?.attempts.findLast(({ logUrl }) => logUrl !== undefined)?.logUrl ?? null;
}
