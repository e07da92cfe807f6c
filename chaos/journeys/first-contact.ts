// The first hour: from an empty home over `svc init` at a terminal to a shipped ticket. Started from the first board by
// clicks, from the command line, or without a ticket.
import { usualTeamStates } from '../../packages/testkit/src/tracker/tickets.ts';
import { until } from '../../packages/testkit/src/waiting.ts';
import { goals } from './hands.ts';
import { openPerson, type Person, type Ticket, type World, withIssues, withLinear } from './journey.ts';
import { randomWord, taskText } from './model.ts';
import { answerAll, byCard, byCommand, byItem, byKey, byNotice, onTicket, ship } from './to-the-end.ts';

/** `next`: the command that `svc init` prints last. */
type Initialised = { next: string; at: number; mark: number };

export async function initialise(person: Person, turns = withIssues): Promise<Initialised> {
  const screen = await person.terminal.must('svc init', turns);
  const [, next] = /^Next: (.+)$/m.exec(screen) ?? [];
  if (next === undefined) throw new Error(`svc init names no next command:\n${screen}`);
  return { next, at: performance.now(), mark: person.hands.mark() };
}

/** The command that starts the agent, as it was printed. */
export function commandToStart({ next }: Initialised, { ticket }: Ticket): string {
  return next.replace('<ticket>', ticket);
}

/** How much it took from the end of `svc init` until the model was asked to work on the ticket. */
async function judgeStart(
  { model, figures }: World,
  { hands }: Person,
  { ticket, at, mark }: Initialised & { ticket: string },
): Promise<void> {
  const began = await until(() => model.firstAskedAbout(ticket));
  const acts = hands.since(mark);
  const what = 'from svc init to a working agent';
  figures.judge(`${what} (${acts.join(', ')})`, acts.length, goals.acts, 'lines, keys or clicks');
  figures.judge(what, (began - at) / 1000, goals.seconds, 's');
}

/** Started from the first board, and answered on the card. */
export async function github(world: World): Promise<void> {
  const issue = world.addIssue();
  const person = await openPerson(world, 'kim');
  const initialised = await initialise(person);
  const screens = await person.openScreens();
  await screens.firstBoard.waitFor();
  await screens.click(screens.startTicket(issue.ticket), 'Start');
  await screens.click(screens.dialog.start, 'Start in the dialog');
  await judgeStart(world, person, { ...initialised, ...issue });
  await answerAll(world, person, issue, { ways: [byCard(await person.openScreens())] });
  await ship(world, person, issue);
}

/** Started with the printed command, and answered at the attention item and by command line. */
export async function linear(world: World): Promise<void> {
  const { cloud } = world.tracker;
  const types = {
    begin: 'backlog',
    work: 'started',
    review: 'started',
    done: 'completed',
    canceled: 'canceled',
  };
  const states = Object.entries(usualTeamStates).map(
    ([name, state]) => [state, types[name as keyof typeof types]] as const,
  );
  const team = cloud.addTeam({ key: 'ABC', name: 'Alphabet', states });
  const word = randomWord();
  const row = cloud.addIssue({ teamId: team.id, title: 'Write the word', description: taskText(word) });
  const issue: Ticket = { ticket: cloud.identifierOf(row), word };
  const person = await openPerson(world, 'kim');
  const initialised = await initialise(person, withLinear);
  await person.terminal.must(commandToStart(initialised, issue));
  await judgeStart(world, person, { ...initialised, ...issue });
  const attention = await person.openScreens('/attention');
  await answerAll(world, person, issue, { ways: [byItem(attention), byCommand(person)] });
  await ship(world, person, issue);
  await until(() => {
    const { stateId } = cloud.issueOf(issue.ticket);
    return cloud.states.find(({ id }) => id === stateId)?.name === usualTeamStates.done;
  });
}

/** Without a ticket: `svc run`, then New task on the board. */
export async function task(world: World): Promise<void> {
  const { program } = world;
  const person = await openPerson(world, 'kim');
  const { terminal } = person;
  const initialised = await initialise(person);
  const word = randomWord();
  const said = await terminal.must(`svc run --agent ${program.name} "${taskText(word)}"`);
  const [, ticket] = /^Created (\S+)/m.exec(said) ?? [];
  if (ticket === undefined) throw new Error(`svc run created no ticket:\n${said}`);
  await judgeStart(world, person, { ...initialised, ticket });
  await answerAll(world, person, { ticket, word }, { ways: [byCommand(person)] });
  await ship(world, person, { ticket, word });

  const second = randomWord();
  const screens = await person.openScreens();
  await screens.isReady();
  await screens.press('n');
  await screens.type(screens.dialog.text, `Change the word\n\n${taskText(second)}`);
  await screens.click(screens.dialog.start, 'Start in the dialog');
  const name = await screens.openedTicket();
  await answerAll(world, person, { ticket: name, word: second }, { ways: [onTicket(screens)] });
  await ship(world, person, { ticket: name, word: second });
}

/** From any screen, and with the keys `a` and `x`. The click at the attention item is in `linear`. */
export async function answers(world: World): Promise<void> {
  const issue = world.addIssue({ unwanted: true });
  const person = await openPerson(world, 'kim');
  const initialised = await initialise(person);
  await person.terminal.must(commandToStart(initialised, issue));
  const attention = await person.openScreens('/attention');
  await answerAll(world, person, issue, {
    reject: byKey(attention, 'x'),
    ways: [
      byNotice(await person.openScreens('/events')),
      byKey(attention, 'a'),
      byCard(await person.openScreens()),
    ],
  });
  await ship(world, person, issue);
}
