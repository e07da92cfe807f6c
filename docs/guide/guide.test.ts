// Runs every command of the guide as a reader would: page by page, in order, each page in its own home and checkout.
// The printed output must match the page.
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isAsShown, stepsOf } from './testing/guide-page.ts';
import { doDeed } from './testing/guide-story.ts';
import { guideWorld } from './testing/guide-world.ts';

const pages = globSync(join(import.meta.dirname, '*.md')).toSorted();

const teamed = 'needs two daemons and a relay; packages/monitor/e2e/team.test.ts runs it';
const moved = 'needs two machines; packages/monitor/e2e/moving.test.ts runs it';

/** Commands that are shown but not run, each with the reason. */
const notRun: Readonly<Record<string, string>> = {
  'npx svc-monitor demo': 'takes three minutes; release/first-minute.ts runs it',
  'npm ci && npm run demo': 'builds what is being tested; packages/demo/e2e runs the demo',
  'npm ci && npm run build\nexport PATH="$PWD/bin:$PATH"': 'builds what is being tested',
  'gh auth login -s admin:repo_hook': 'opens a browser at the code host',
  'svc init': 'asks questions; packages/monitor/e2e/init.test.ts answers them at a pseudo-terminal',
  'svc open': 'opens a browser; packages/monitor/e2e/access.test.ts opens the address',
  'svc orchestrate start ENG-42 --agent claude':
    'needs an agent; packages/monitor/e2e/orchestrate.test.ts starts one',
  'svc monitor install':
    'needs systemd or launchd; packages/monitor/e2e/service.test.ts runs the printed unit',
  'docker compose -f examples/relay/compose.yaml up -d':
    'needs Docker; packages/relay/e2e/examples.test.ts checks it',
  'svc monitor stop\n(umask 077; tar -C "$HOME" -czf "$HOME/svc-copy.tar.gz" .config/svc svc)': moved,
  'tar -C "$HOME" --keep-old-files -xzpf svc-copy.tar.gz': moved,
  'svc monitor start\nsvc doctor': moved,
  'svc config set svc.retention.worktreeDays 14\nsvc config set svc.retention.runDays 90\nsvc retention\nsvc retention --yes':
    'would remove nothing in a new home; packages/monitor/e2e/retention.test.ts runs it',
  'svc team create --relay https://relay.example.com --name web\nsvc team invite': teamed,
  'svc attention hand-over run-1/ABC-12/deploy-timeout --to kim\nsvc attention ack run-1/ABC-12/deploy-timeout --machine kim-laptop':
    'needs two daemons and a relay; packages/monitor/e2e/team-commands.test.ts runs it',
  'svc config set svc.team.allow \'{"person:kim": ["hand-over", "acknowledge", "pause"], "*": ["hand-over"]}\'':
    'needs a team; packages/monitor/e2e/team-commands.test.ts uses such a file',
  "svc team join 'https://relay.example.com/4bR…#k2f….Xk2…'\nsvc board --team": teamed,
  "svc monitor start\nsvc team join 'https://relay.example.com/4bR…#k2f….Xk2…' --person wall\nsvc monitor stop\nsvc team serve":
    'needs a relay; packages/monitor/e2e/access.test.ts runs it',
};

test.each(pages.map((file) => [basename(file), file]))(
  'every command of %s runs and prints what the page shows',
  async (_name, file) => {
    const world = await guideWorld();
    let at = await world.machine('first');
    let runs = 0;
    for (const step of stepsOf(readFileSync(file, 'utf8'))) {
      const where = `${basename(file)}:${step.line}`;
      if (step.kind === 'machine') at = await world.machine(step.name);
      if (step.kind === 'world') await doDeed(world, at, step.what);
      if (step.kind === 'shown') expect(Object.keys(notRun), where).toContain(step.commands);
      if (step.kind !== 'run') continue;
      const printed = at.asShown(await at.shell.run(step.commands));
      runs += 1;
      if (step.prints === undefined || isAsShown(step.prints, printed)) continue;
      expect.fail(`${where} shows\n\n${step.prints}\n\nand this was printed:\n\n${printed}`);
    }
    expect(runs).toBeGreaterThan(0);
  },
);

test('every exception is still on a page', () => {
  const shown = pages
    .flatMap((file) => stepsOf(readFileSync(file, 'utf8')))
    .flatMap((step) => (step.kind === 'shown' ? [step.commands] : []));
  expect(Object.keys(notRun).filter((commands) => !shown.includes(commands))).toEqual([]);
});

describe('reading a page', () => {
  test('commands, their output, commands that are only shown, and world steps', () => {
    const page = [
      '```sh\na\nb\n```\n\n```text\nout\n```',
      '<!-- world: it rains -->\n<!-- machine: second -->\n```console\nc\n```',
    ].join('\n');
    expect(stepsOf(page)).toEqual([
      { kind: 'run', commands: 'a\nb', prints: 'out', line: 1 },
      { kind: 'world', what: 'it rains', line: 9 },
      { kind: 'machine', name: 'second', line: 10 },
      { kind: 'shown', commands: 'c', line: 11 },
    ]);
  });

  test.each([
    ['```bash\na\n```', 'not "bash"'],
    ['```text\na\n```', 'without commands'],
    ['```sh\na', 'does not end'],
    ['```json\n{a}\n```', 'JSON'],
  ])('%j is refused', (page, words) => expect(() => stepsOf(page)).toThrow(words));

  test.each([
    ['a', 'a\n', true],
    ['a', 'b\n', false],
    ['pid …, up', 'pid 12, up', true],
    ['pid …, up', 'pid 12, down', false],
    ['a\n…\nz', 'a\nb\nc\nz', true],
    ['a\n…\nz', 'a\nz', true],
    ['a\n…', 'a\nb', true],
    ['a', 'a\nb', false],
    ['(a)', '(a)', true],
  ])('%j shows %j: %s', (shown, printed, is) => expect(isAsShown(shown, printed)).toBe(is));
});
