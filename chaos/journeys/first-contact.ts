// The first hour: from an empty home over `svc init` at a terminal to a shipped ticket, started from the first board by
// clicks, or from the command line.
import { until } from '../../packages/testkit/src/waiting.ts';
import { REPO } from './codehost.ts';
import { goals, judgeFigure } from './hands.ts';
import { answerAll, enterEverywhere, openPerson, type Person, ship, type World } from './journey.ts';
import { randomWord, taskText } from './model.ts';

/** Prints how much it took from the end of `svc init` until the model was asked to work on the ticket. */
async function judgeFirstAgent(
  world: World,
  person: Person,
  given: { journey: string; ticket: string; mark: number; from: number },
) {
  const { journey, ticket, mark, from } = given;
  const at = await until(() => world.model.firstAskedAbout(ticket));
  const acts = person.hands.since(mark);
  judgeFigure(
    journey,
    `${world.program.name}: init to a working agent (${acts.join(', ')})`,
    acts.length,
    goals.acts,
    'keys or clicks',
  );
  judgeFigure(
    journey,
    `${world.program.name}: init to a working agent`,
    (at - from) / 1000,
    goals.seconds,
    's',
  );
}

export async function github(world: World): Promise<void> {
  const journey = 'github';
  const word = randomWord();
  const { number } = world.codehost.cloud.addIssue(REPO, { title: 'Write the word', body: taskText(word) });
  const ticket = `GH-${number}`;
  const person = await openPerson(world, 'kim');
  const said = await person.init(enterEverywhere);
  const from = performance.now();
  const mark = person.hands.mark();
  const [, next = ''] = /^Next: (.+)$/m.exec(said) ?? [];
  if (next.startsWith('svc skills install'))
    await person.terminal.must(next, [['Write these files?', 'y\r']]);
  const screens = await person.openScreens();
  await screens.firstBoard.waitFor();
  await screens.click(screens.startTicket(ticket), 'Start');
  await screens.dialog.start.waitFor();
  await screens.click(screens.dialog.start, 'Start in the dialog');
  await judgeFirstAgent(world, person, { journey, ticket, mark, from });
  await answerAll(world, person, { journey, ticket }, async () => {
    await screens.click(screens.allow(screens.page), 'Allow');
  });
  await ship(world, person, { ticket, word });
}
