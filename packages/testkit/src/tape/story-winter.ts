// The run "Winter storage": many workers at once, in every state that work can be in.
import { runs } from './product.ts';
import { type Story, tellRun, tellWave, usualWalk } from './story.ts';

const run = runs.winter;

export function tellWinter(story: Story): void {
  for (const [index, ticket] of run.waves.flat().entries()) story.of(ticket).created(-1_240 + index * 3);
  tellRun(story, run, 30, 'started');
  tellWave(story, run, 1, 31, 'started');
  tellReviewed(story);
  tellTroubled(story);
  tellWave(story, run, 2, 300, 'started');
  tellWorking(story);
}

function tellWorking({ of }: Story): void {
  of('TID-121').walks(470, [
    ['researching', 20],
    ['planning', 14],
    ['implementing', 60],
  ]);
  of('TID-122').walks(552, [['researching', 20]]);
  of('TID-123').walks(530, [
    ['researching', 18],
    ['planning', 30],
  ]);
  of('TID-124').walks(420, [
    ['researching', 20],
    ['planning', 12],
    ['implementing', 70],
    ['validating', 60],
  ]);
  of('TID-125').walks(380, [
    ['researching', 30],
    ['planning', 20],
    ['implementing', 90],
    ['validating', 30],
    ['shipping', 60],
  ]);
  of('TID-124').asks(
    548,
    'question',
    'The yard has two price lists for winter services. Which one does the owner see?',
    'low',
    'svc why TID-124',
  );
  of('TID-135').works(566, 'dispatched');
}

function tellReviewed({ of }: Story): void {
  const remind = of('TID-126');
  const a = remind.walks(34, usualWalk(110));
  remind.opens(a, { draft: false });
  remind.checks(a + 2, 'build', 'success');
  remind.says(a + 4, 'preview-bot', 'Preview: https://preview-426.tideline.example');
  remind.pushes(561, 'Send the reminder in the owner’s language');
  remind.checks(562, 'build', null);
  remind.checks(562.5, 'browser-tests', null);
  remind.status(563, 'ci/size', 'pending', 'Measuring the bundle');

  const refuse = of('TID-127');
  const b = refuse.walks(36, usualWalk(90));
  refuse.opens(b);
  refuse.checks(b + 1, 'build', null);
  refuse.checks(b + 5, 'build', 'failure');
  refuse.checks(b + 6, 'lint', 'success');
  refuse.status(b + 6.5, 'ci/integration', 'failure', '2 of 118 tests failed');

  const covered = of('TID-128');
  const c = covered.walks(38, usualWalk(100));
  covered.opens(c);
  covered.passes(c + 2);
  covered.thread(c + 30, 1, 'A cover that was taken off in March is still shown in April.', false);
  covered.thread(c + 33, 2, 'Can this be read without the colour?', false);
  covered.thread(c + 36, 3, 'Why a second query for each boat?', false);
  covered.reviews(c + 40, 'changes_requested', 'Three things before this goes out.', 'sofia');
  covered.thread(c + 70, 3, '', true);

  const imported = of('TID-129');
  const d = imported.walks(40, usualWalk(130));
  imported.opens(d);
  imported.passes(d + 3);
  imported.reviews(540, 'approved', 'Ran it on the list of last year: 312 of 312 boats.', 'jonas');
  imported.works(564, 'merging');
}

function tellTroubled({ of }: Story): void {
  const crane = of('TID-130');
  crane.walks(302, [
    ['researching', 25],
    ['planning', 20],
    ['implementing', 40],
  ]);
  crane.works(455, 'stalled', () => ({ error: 'No output for 30 minutes', pid: null }));

  const lock = of('TID-131');
  lock.walks(304, [
    ['researching', 20],
    ['planning', 20],
  ]);
  // A pid that no process can have.
  lock.works(350, 'implementing', () => ({ pid: 2 ** 22 + 7 }));
  lock.dies(497);

  const calendar = of('TID-132');
  calendar.walks(306, [
    ['researching', 20],
    ['planning', 20],
    ['implementing', 40],
  ]);
  calendar.works(402, 'failed', () => ({ error: 'The calendar service refuses our key', pid: null }));

  const order = of('TID-133');
  const opened = order.walks(308, usualWalk(40));
  order.opens(opened);
  order.comments(opened + 8, 'li', 'The yard says: the order is theirs alone. We drop this one.');
  order.works(opened + 10, 'canceled', () => ({ pid: null }));
  order.closes(opened + 11);
  order.moves(opened + 12, 'Canceled');

  const wind = of('TID-134');
  const blown = wind.walks(310, usualWalk(50));
  wind.opens(blown);
  wind.checks(blown + 2, 'build', 'success');
  wind.reviews(blown + 20, 'commented', 'The forecast service changes its terms next month.', 'adaeze');
  wind.closes(blown + 28, 'adaeze');
  wind.snoozed(blown + 33, 'pr-closed', 'mira', 240);
}
