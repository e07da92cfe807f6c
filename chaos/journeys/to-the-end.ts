// The way of a ticket whose agent was started: every request of the agent is answered, then its pull request is merged and
// deployed. What svc reports in the end is compared with what the code host knows.
import { setTimeout as sleep } from 'node:timers/promises';
import { until, WAIT_MS } from '../../packages/testkit/src/waiting.ts';
import { goals } from './hands.ts';
import type { Person, Ticket, World } from './journey.ts';
import { COMMANDS, UNWANTED } from './model.ts';
import type { Screens } from './screens.ts';

/** All requests of a ticket are answered in at most so long. */
const LONGEST_MS = 3 * WAIT_MS;
/** A person reads a request before a key is pressed; the screens ignore keys before, and clicks in the notice. */
const READING_MS = 600;

/** One way to answer what the agent of the ticket asks. */
export type Way = (ticket: string, request: string) => Promise<void>;

export function byCard(board: Screens): Way {
  return (ticket) => board.click(board.allow(board.card(ticket)), 'Allow on the card');
}

export function byItem(attention: Screens): Way {
  return () => attention.click(attention.allow(attention.selectedItem), 'Allow at the attention item');
}

export function onTicket(page: Screens): Way {
  return () => page.click(page.allow(page.page), 'Allow on the page of the ticket');
}

/** From a screen that is about something else: the notice that every screen shows. */
export function byNotice(screens: Screens): Way {
  return async (ticket) => {
    const allow = screens.notice(ticket).getByRole('button').first();
    await allow.waitFor();
    await sleep(READING_MS);
    await screens.click(allow, 'Allow in the notice');
  };
}

/** With the selected attention item, or on the page of the ticket. */
export function byKey(screens: Screens, key: 'a' | 'x'): Way {
  return async () => {
    await screens.allow(screens.page).waitFor();
    await sleep(READING_MS);
    await screens.press(key);
  };
}

export function byCommand({ terminal }: Person): Way {
  return async (ticket) => void (await terminal.must(`svc agent answer ${ticket} allow`));
}

/** From a started ticket to its pull request: each request is answered in the next way. An unwanted one is rejected. */
export async function answerAll(
  world: World,
  person: Person,
  { ticket }: Ticket,
  { ways, reject }: { ways: readonly Way[]; reject?: Way },
): Promise<void> {
  const { repository, figures } = world;
  let answered = 0;
  for (const deadline = performance.now() + LONGEST_MS; ; ) {
    const now = await until(async () => {
      // Asked before the code host: an agent that is idle now may have opened its pull request during the question.
      const { agent } = await person.view(ticket);
      if (repository.rowOf(ticket) !== undefined) return { end: 'pull request' as const };
      if (agent?.state === 'ended' || agent?.state === 'idle') return { end: agent.state, agent };
      const open = agent?.open[0];
      return open && { request: open.request, command: open.command ?? open.title };
    });
    if ('end' in now) {
      if (now.end === 'pull request') break;
      throw new Error(
        `the agent is ${now.end}: ${now.agent?.message ?? now.agent?.problem ?? 'it says nothing'}`,
      );
    }
    if (performance.now() > deadline) throw new Error(`${ticket} has no pull request in time`);
    const isUnwanted = now.command.includes(UNWANTED);
    const way = isUnwanted ? reject : ways[answered % ways.length];
    if (way === undefined) throw new Error(`nobody expected this request: ${now.command}`);
    const mark = person.hands.mark();
    await way(ticket, now.request);
    await until(async () => {
      const { agent } = await person.view(ticket);
      return agent?.open.every(({ request }) => request !== now.request) ?? true;
    });
    const acts = person.hands.since(mark);
    figures.judge(
      `from a request to its answer (${acts.join(', ')})`,
      acts.length,
      goals.answer,
      'line, key or click',
    );
    if (isUnwanted) await goOn(person, ticket);
    else answered += 1;
  }
  if (answered < COMMANDS)
    throw new Error(`${ticket}: ${answered} requests for ${COMMANDS} commands: the agent did not ask`);
}

/** Some agents end their turn when a command is rejected: then they continue after a message. */
async function goOn({ terminal, view }: Person, ticket: string): Promise<void> {
  const isIdle = await until(async () => {
    const { agent } = await view(ticket);
    return (agent?.state === 'idle' && 'idle') || ((agent?.open.length ?? 0) > 0 && 'asks');
  });
  if (isIdle === 'idle') await terminal.must(`svc agent send ${ticket} 'Continue without it.'`);
  await until(async () => ((await view(ticket)).agent?.open.length ?? 0) > 0);
}

/** Merged and deployed by the code host; then every answer about the ticket is compared with what is so. */
export async function ship({ repository }: World, person: Person, { ticket, word }: Ticket): Promise<void> {
  const { terminal, ask } = person;
  const before = repository.deliveredSuccesses();
  await repository.announce(ticket);
  const early = await terminal.run(`svc receipt ${ticket}`);
  if (early.code !== 1) throw new Error(`${ticket} shipped before its merge: ${early.screen}`);
  await repository.merge(ticket);
  await repository.deploy(ticket);
  await until(async () => {
    const { shipped } = await ask<{ shipped: boolean | null }>(`/api/workers/${ticket}/receipt`);
    return shipped === true;
  }).catch(() => undefined);
  const { code, screen } = await terminal.run(`svc receipt ${ticket}`);
  const problems = [
    ...(code === 0 ? [] : [`svc receipt ended with ${code}: ${screen}`]),
    ...repository.problems(ticket, word),
    ...(repository.deliveredSuccesses() > before ? [] : ['no signed delivery of the success was accepted']),
  ];
  if (problems.length > 0) throw new Error(problems.join('\n'));
}
