// What a person, or a policy, does to the agent of a worker: answers, messages, another mode or model, stop.
import type { Fields } from '@svc/contract/payload-fields';
import { Failure } from '../../../kernel/failure.ts';
import { draft, type EventDraft } from '../../../kernel/log/event-line.ts';
import type { Worker } from '../../workers/worker.ts';
import { scopeOfWorker } from '../../workers/worker-attention.ts';
import type { AgentOptions } from '../api.ts';
import { isKnownToAsk } from '../choice.ts';
import { pausedBy } from '../limits.ts';
import type { Answer } from '../messages.ts';
import type { Setting } from '../offered.ts';
import { cutRequest } from '../request-limit.ts';
import { answerable } from '../requests.ts';
import { shortText } from '../tools.ts';
import type { AgentRecord } from './agent-record.ts';
import type { AgentTalk } from './agent-session.ts';
import { bytesOf, type NewImage, writeImages } from './image-files.ts';
import { inboxPath, readInbox, writeMessage } from './inbox.ts';

export type Steering = {
  answer: (
    worker: Worker,
    given: {
      request: string;
      answer: Answer;
      by: string;
      key?: string | undefined;
      content?: Fields | undefined;
    },
  ) => Promise<void>;
  /** Returns what happens to the message. */
  message: (
    worker: Worker,
    given: { text: string; by: string; key: string; images?: readonly NewImage[] },
  ) => Promise<string>;
  cancel: (worker: Worker, by: string) => Promise<void>;
  options: (worker: Worker) => Promise<AgentOptions>;
  /** Whether the agent has confirmed it. */
  change: (
    worker: Worker,
    given: { setting: Setting; value: string; confirm: boolean; by: string; key?: string | undefined },
  ) => Promise<boolean>;
};

/** For all messages to the agent of a ticket, in one run. */
const MOST_KEPT_BYTES = 32 * 1024 * 1024;

const startedAgain = 'queued: the agent is started again';

type Running = { talk: AgentTalk | null; record: AgentRecord };

export function createSteering({
  runsDir,
  running,
  known,
  readInboxOf,
  whyHeld,
  append,
  now,
}: {
  runsDir: string;
  /** The agent of the worker, if its process is alive. */
  running: (worker: Worker) => Running | undefined;
  /** Resolves when it is known whether it is. */
  known: (worker: Worker) => Promise<unknown>;
  readInboxOf: (worker: Worker) => Promise<void>;
  /** Why no message is sent to it now. */
  whyHeld: (worker: Worker) => string | null;
  append: (draft: EventDraft) => Promise<unknown>;
  now: () => Date;
}): Steering {
  const ours = { source: 'orchestrator', via: 'local' } as const;

  /** Just after a start of the daemon nobody knows yet which agents are running. */
  async function live(worker: Worker): Promise<{ talk: AgentTalk; record: AgentRecord }> {
    await known(worker);
    const one = running(worker);
    if (one?.talk) return { talk: one.talk, record: one.record };
    const why = one === undefined ? 'is not running' : `runs as a command line (${one.record.reason ?? ''})`;
    throw new Failure(
      'not-allowed-now',
      `svc cannot talk to the agent of ${worker.ticket}: it ${why}.`,
      `See what it does: svc agent show ${worker.ticket}`,
    );
  }

  async function optionsOf(worker: Worker): Promise<AgentOptions> {
    const { talk, record } = await live(worker);
    const { mode, modes, model, models, commands, can } = talk.session();
    const { orchestrator, ticket } = worker;
    const isKnown = (id: string): boolean => isKnownToAsk(record.agent, record.setup?.mode ?? null, id);
    return {
      ticket,
      orchestrator,
      mode,
      modes: modes.map(({ id, name }) => ({ id, name, confirm: !isKnown(id) })),
      model,
      images: can.images,
      models: [...models],
      commands: [...commands],
    };
  }

  /** They are kept with the ticket's messages, as long as those. */
  async function refuseImages(worker: Worker, images: readonly NewImage[]): Promise<void> {
    await known(worker);
    const { ticket } = worker;
    const one = running(worker);
    const session = one?.talk?.session();
    const isTaken = session?.agent ? session.can.images : worker.agent?.images;
    const instead = 'Copy the image into its worktree, and name its path in the message.';
    if (one === undefined ? worker.agent?.protocol === false : one.talk === null)
      throw new Failure(
        'not-allowed-now',
        `The agent of ${ticket} runs as a command line: it takes no images.`,
        instead,
      );
    if (isTaken !== true)
      throw new Failure(
        'not-allowed-now',
        `The agent of ${ticket} does not report that it takes images.`,
        instead,
      );
    const before = await readInbox(inboxPath(runsDir, worker));
    const kept = bytesOf(before.flatMap((message) => message.images ?? []));
    if (kept + bytesOf(images) > MOST_KEPT_BYTES)
      throw new Failure(
        'not-allowed-now',
        `The images that the agent of ${ticket} got in this run have ${MOST_KEPT_BYTES / 1024 ** 2} MiB: svc keeps no more.`,
        instead,
      );
  }

  return {
    options: optionsOf,
    async change(worker, { setting, value, confirm, by, key }) {
      const { ticket } = worker;
      const options = await optionsOf(worker);
      const offered = setting === 'mode' ? options.modes : options.models;
      const isRisky = setting === 'mode' && options.modes.some((one) => one.id === value && one.confirm);
      if (isRisky && !confirm)
        throw new Failure(
          'usage',
          `svc does not know whether the agent of ${ticket} still asks for permissions in the mode ${value}. Nothing was changed.`,
          `If you mean it: svc agent set ${ticket} --mode ${JSON.stringify(value)} --confirm`,
        );
      const { talk } = await live(worker);
      const result = await talk.change({ setting, value, by, key });
      if (result.state === 'not-offered')
        throw new Failure(
          'usage',
          `The agent of ${ticket} does not offer the ${setting} ${JSON.stringify(value)}. It offers: ${offered.map(({ id }) => id).join(', ') || 'none'}.`,
        );
      if (result.state === 'refused')
        throw new Failure(
          'not-allowed-now',
          `The agent of ${ticket} did not take the ${setting} ${value}: ${shortText(result.reason)}`,
        );
      return result.state === 'confirmed';
    },
    async answer(worker, { request, answer, by, key, content }) {
      const { talk } = await live(worker);
      const { open: requests } = talk.session();
      const result = await talk.answer({ request, answer, by, key, content });
      if (result === 'sent') return;
      if (talk.isFull())
        throw new Failure(
          'not-allowed-now',
          `The file of messages to the agent of ${worker.ticket} is full. It is started again, and asks again.`,
          `See when: svc why ${worker.ticket}`,
        );
      const asked = requests.find((one) => one.request === request);
      const offered = asked && answerable(asked).map(({ kind }) => kind);
      if (result === 'not-offered' && asked?.cut === true && answer.startsWith('allow'))
        throw new Failure(
          'not-allowed-now',
          `This request cannot be allowed. ${cutRequest.why}`,
          cutRequest.fix,
        );
      if (result === 'not-offered')
        throw new Failure(
          'usage',
          `This request cannot be answered with ${answer}. It offers: ${offered?.join(', ') || 'accept, decline'}.`,
        );
      throw new Failure(
        'not-allowed-now',
        `The request ${request} of ${worker.ticket} is not open.`,
        `See what is open: svc agent show ${worker.ticket}`,
      );
    },
    async message(worker, { text, by, key, images = [] }) {
      const path = inboxPath(runsDir, worker);
      const id = `person:${key}`;
      const isKnown = async (): Promise<boolean> => (await readInbox(path)).some((one) => one.key === id);
      const isNew = images.length > 0 && !(await isKnown());
      if (isNew) await refuseImages(worker, images);
      // Before the message that names them.
      const attached = isNew ? await writeImages(runsDir, worker, images) : [];
      if (!(await isKnown()))
        await writeMessage(path, {
          key: id,
          at: now().toISOString(),
          cause: 'message',
          number: null,
          url: null,
          text,
          by,
          ...(attached.length > 0 && { images: attached }),
        });
      await known(worker);
      const one = running(worker);
      if (one?.talk) {
        await readInboxOf(worker);
        await one.talk.goOn();
        if (!one.talk.waiting().some((message) => message.key === id)) return 'sent';
        const next = one.talk.isFull() ? startedAgain : 'queued until the agent is idle';
        return whyHeld(worker) ?? next;
      }
      if (one !== undefined) return 'queued: the agent reads it at its next check';
      const recalled = draft('orchestrator.worker.recalled', scopeOfWorker(worker), { reason: 'message' });
      await append({ ...recalled, ...ours, deliveryId: `recall:${worker.key}:${id}` });
      return whyHeld(worker) ?? startedAgain;
    },
    async cancel(worker, by) {
      await known(worker);
      const isWaiting = pausedBy(worker.agent) !== null && running(worker) === undefined;
      const talk = isWaiting ? null : (await live(worker)).talk;
      // First, so that nothing continues what a person has stopped.
      const attempt = worker.agent?.attempt ?? 1;
      await append({ ...draft('agent.stopped', scopeOfWorker(worker), { attempt, by }), ...ours });
      await talk?.cancel(by);
    },
  };
}
