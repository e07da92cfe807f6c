// What a person can do with the agent of a ticket.
import { shownStatus } from '@svc/contract/worker-statuses';
import { boardOf, type StateAccess } from '../../kernel/board/state-access.ts';
import { Failure } from '../../kernel/failure.ts';
import type { ApiAnswer, ApiRoute } from '../../kernel/http/api-route.ts';
import type { Asked } from '../../kernel/http/route.ts';
import type { api } from '../api.ts';
import { workerOfTicket } from '../workers/current-worker.ts';
import { unknownTicket, workerNamed } from '../workers/service.ts';
import { isPreMerge } from '../workers/status-groups.ts';
import type { Worker } from '../workers/worker.ts';
import type { Agents } from './io/agents.ts';
import { imagesOf } from './io/image-files.ts';
import { readOutput } from './io/output.ts';

export type AgentsOfBoard = { state: StateAccess; agents: Agents };

type With<Described extends ApiRoute> = Asked<Described>['params'] & Asked<Described>['body'];

/** An answer that also decides later requests needs a second word. */
export async function answerAgent(
  { state, agents }: AgentsOfBoard,
  { ticket, request, answer, content, confirm, key, by, orchestrator }: With<typeof api.answerAgent>,
): Promise<ApiAnswer<typeof api.answerAgent>> {
  const worker = workerNamed(state, ticket, orchestrator);
  if (answer.endsWith('_always') && confirm !== true) {
    const asked = worker.agent?.open.find((one) => one.request === request);
    const option = asked?.options.find(({ kind }) => kind === answer)?.name ?? answer;
    throw new Failure(
      'usage',
      `"${option}" also decides later requests, and the agent chooses which ones. It was asked for: ${asked?.command ?? asked?.title ?? 'unknown'}.`,
      `If you mean it: svc agent answer ${ticket} ${answer} --confirm`,
    );
  }
  await agents.answer(worker, { request, answer, by, key, content });
  return { ok: true, answered: answer };
}

export async function messageAgent(
  { state, agents }: AgentsOfBoard,
  { ticket, text, by, key = crypto.randomUUID(), images = [], orchestrator }: With<typeof api.messageAgent>,
): Promise<ApiAnswer<typeof api.messageAgent>> {
  const worker = messagedWorker(state, ticket, orchestrator);
  return { ok: true, queued: await agents.message(worker, { text, by, key, images: imagesOf(images) }) };
}

export async function changeAgent(
  { state, agents }: AgentsOfBoard,
  { ticket, setting, value, confirm = false, by, key, orchestrator }: With<typeof api.setAgentOption>,
): Promise<ApiAnswer<typeof api.setAgentOption>> {
  const worker = workerNamed(state, ticket, orchestrator);
  const confirmed = await agents.change(worker, { setting, value, confirm, by, key });
  const { mode, model } = await agents.options(worker);
  return { ok: true, confirmed, mode, model };
}

/** A worker without work for its agent gets no messages. */
function messagedWorker(state: StateAccess, named: string, run: string | undefined): Worker {
  const worker = workerNamed(state, named, run);
  const { ticket, orchestrator, status, merge, removed } = worker;
  if (status === 'failed' || status === 'stalled')
    throw new Failure(
      'not-allowed-now',
      `The status of ${ticket} is ${shownStatus(status)}, so its agent is not started for a message.`,
      `Start it again: svc orchestrate retry ${orchestrator} ${ticket}`,
    );
  if (removed || merge !== null || !isPreMerge(status))
    throw new Failure(
      'not-allowed-now',
      `The status of ${ticket} is ${shownStatus(status)}: its agent has nothing more to do.`,
      `See why: svc why ${ticket}`,
    );
  return worker;
}

/** What the agent of a worker wrote. The file has the name that the run gave the ticket. */
export function workerOutput(
  { state, runsDir }: { state: StateAccess; runsDir: string },
  {
    ticket,
    orchestrator: named,
    after,
    limit,
  }: Asked<typeof api.getWorkerOutput>['params'] & Asked<typeof api.getWorkerOutput>['query'],
): ReturnType<typeof readOutput> {
  const worker = workerOfTicket(boardOf(state), ticket, named);
  const orchestrator = named ?? worker?.orchestrator;
  if (orchestrator === undefined) throw unknownTicket(ticket);
  return readOutput({ runsDir, orchestrator, ticket: worker?.ticket ?? ticket, after, limit });
}
