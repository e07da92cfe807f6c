// The run "Guest berths": its first wave was shipped yesterday, its second one ships today, its third one waits.
import { runs } from './product.ts';
import { type Story, tellRun, tellWave, usualWalk } from './story.ts';

const run = runs.berths;

export function tellBerths(story: Story): void {
  for (const [index, ticket] of run.waves.flat().entries()) story.of(ticket).created(-1_420 + index * 2);
  tellRun(story, run, -1_381, 'started');
  tellWave(story, run, 1, -1_380, 'started');
  tellYesterday(story);
  tellWave(story, run, 1, -1_000, 'completed');
  tellWave(story, run, 2, 12, 'started');
  tellToday(story);
}

function tellYesterday({ of }: Story): void {
  const prices = of('TID-101');
  const first = prices.walks(-1_378, usualWalk(46));
  prices.opens(first);
  prices.passes(first + 2);
  prices.thread(
    first + 20,
    1,
    'What does a stay cost that begins in one season and ends in the next?',
    false,
  );
  prices.reviews(
    first + 21,
    'changes_requested',
    'One case is missing: a stay over the turn of the season.',
    'li',
  );
  prices.pushes(first + 44, 'Price each night by its own season');
  prices.passes(first + 46);
  prices.thread(first + 55, 1, '', true);
  prices.reviews(first + 58, 'approved', 'Each night by its own season: good.', 'li');
  prices.works(first + 60, 'merging');
  prices.merges(first + 63, { by: 'li' });
  prices.deploys(first + 65, 'staging', { state: 'success', after: 5 });
  prices.deploys(first + 72, 'production', { state: 'success', after: 7 });
  prices.moves(first + 80, 'Done');
  prices.verified(first + 82, 'passed', '641 tests, 9 of them new, nothing weakened');

  // The laptop was closed when this one was merged: a poll found it in the morning after.
  const map = of('TID-102');
  const second = map.walks(-1_376, usualWalk(60));
  map.opens(second, { found: true });
  map.passes(second + 5, true);
  map.merges(second + 40, { by: 'mira', found: true });
  map.deploys(second + 44, 'production', { state: 'success', after: 9 }, true);
  map.moves(second + 60, 'Done');

  // It says that it is done, and nobody saw it.
  const code = of('TID-103');
  const third = code.walks(-1_374, usualWalk(30));
  const pr = {
    number: 403,
    url: 'https://code.example/tideline/api/pull/403',
    state: 'merged',
    ciStatus: 'passed',
    mergeSha: '5e'.repeat(20),
  };
  code.works(third, 'done', () => ({
    pr,
    deploy: { environment: 'production', deploymentId: 49_871, result: 'success' },
  }));
}

function tellToday({ of }: Story): void {
  const extend = of('TID-104');
  const e = extend.walks(14, usualWalk(150));
  extend.opens(e);
  extend.passes(e + 3);
  extend.says(e + 9, 'preview-bot', 'Preview: https://preview-404.tideline.example');
  extend.reviews(e + 60, 'approved', 'The calendar is a joy on the phone.', 'sofia');
  extend.works(535, 'merging');
  extend.merges(540, { by: 'sofia' });
  extend.deploys(543, 'staging', { state: 'success', after: 6 });
  extend.deploys(556, 'production', null);

  const refund = of('TID-105');
  const r = refund.walks(15, usualWalk(80));
  refund.opens(r);
  refund.passes(r + 2);
  refund.comments(r + 12, 'jonas', 'The accounts want the refund as a line of its own, please.');
  refund.reviews(r + 40, 'approved', 'Rounded in favour of the guest, as agreed.', 'jonas');
  refund.merges(505, { by: 'jonas' });
  refund.deploys(508, 'production', {
    state: 'failure',
    after: 11,
    description: 'Migration 0192 failed: column "refunded_at" already exists',
  });
  refund.acknowledged(531, 'deploy-failed', 'mira');

  const waiting = of('TID-106');
  const w = waiting.walks(16, usualWalk(60));
  waiting.opens(w);
  waiting.passes(w + 2);
  waiting.reviews(w + 25, 'approved', 'Fair: first come, first served.', 'adaeze');
  waiting.merges(w + 30, { by: 'adaeze' });
  for (const [index, description] of [
    'The health check did not answer within 60 s',
    'The health check did not answer within 60 s',
    'Out of memory while starting: 512 MB',
  ].entries())
    waiting.deploys(w + 33 + index * 14, 'production', { state: 'failure', after: 8, description });

  const pass = of('TID-107');
  const p = pass.walks(18, usualWalk(40));
  pass.opens(p);
  pass.passes(p + 2);
  pass.reviews(p + 15, 'approved', 'Legible from two metres.', 'mira');
  pass.merges(p + 20, { by: 'mira' });
  pass.deploys(p + 22, 'production', { state: 'success', after: 8 });
  pass.moves(p + 32, 'Done');
  pass.verified(p + 34, 'passed', '388 tests, 4 of them new, nothing weakened');

  const depth = of('TID-111');
  const d = depth.walks(22, usualWalk(70));
  depth.opens(d);
  depth.passes(d + 2);
  depth.reviews(d + 21, 'approved', 'The tide is in it: good.', 'adaeze');
  depth.merges(d + 26, { by: 'adaeze' });
  depth.deploys(d + 28, 'staging', { state: 'success', after: 5 });
  depth.deploys(d + 35, 'production', { state: 'success', after: 6 });
  depth.moves(d + 42, 'Done');
  depth.verified(d + 44, 'passed', '391 tests, 3 of them new, nothing weakened');

  const cancel = of('TID-112');
  const c = cancel.walks(24, usualWalk(120));
  cancel.opens(c);
  cancel.passes(c + 2);
  cancel.reviews(c + 18, 'approved', 'The guest is told first: right.', 'mira');
  cancel.merges(c + 22, { by: 'mira' });
  cancel.deploys(c + 25, 'production', {
    state: 'failure',
    after: 7,
    description: 'The runner lost its network',
  });
  cancel.deploys(c + 36, 'production', { state: 'success', after: 8 });
  cancel.moves(c + 45, 'Done');
  cancel.verified(c + 47, 'passed', '655 tests, 11 of them new, nothing weakened');

  const tax = of('TID-108');
  const t = tax.walks(20, usualWalk(190));
  tax.opens(t);
  tax.passes(t + 3);
  tax.reviews(t + 30, 'approved', 'Children under six are free: checked.', 'li');
  tax.merges(558, { by: 'li' });
}
