import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createCommand } from '@commander-js/extra-typings';
import { testTerminal } from '@svc/testkit';
import { describe, expect, onTestFinished, test } from 'vitest';
import { AnswerIsNo } from '../../../cli/kit/terminal.ts';
import { runCommandLine } from '../../../cli/run.ts';
import { claimInstance } from '../../../kernel/instance/instance.ts';
import { checkProjectSetupVerb } from './check-project-setup.ts';

const token = 'tracker-token-hush';
const secrets = { svc: { tracker: { apiToken: token, teamKey: 'ABC' } } };

const whole = {
  svc: {
    projectKey: 'app',
    project: { ticketPrefix: 'ABC' },
    tracker: {
      teamKey: 'ABC',
      teamId: 't-1',
      stateIds: { Backlog: '1', Todo: '2', 'In Progress': '3', 'In Review': '4', Done: '5', Canceled: '6' },
    },
  },
};

type Given = {
  project?: unknown;
  answers?: readonly (string | undefined)[];
  environment?: Record<string, string>;
  gh?: string | null;
  git?: boolean;
};

/** A home with a project that has all it needs but a daemon. */
function checkout(given: Given = {}) {
  const terminal = testTerminal({
    ...(given.answers && { answers: given.answers }),
    environment: { NO_COLOR: '1', ...given.environment },
  });
  const { home } = terminal;
  const write = (path: string, content: unknown, mode = 0o644) => {
    const file = join(home, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
    chmodSync(file, mode);
    return file;
  };
  const app = join(home, 'app');
  mkdirSync(app);
  if (given.git !== false) execFileSync('git', ['init', '--quiet', app]);
  if (given.project !== null) write('app/.svc/config.json', given.project ?? whole);
  write('.config/svc/config-app.json', secrets, 0o600);
  const programs = join(home, 'bin');
  const { gh = 'echo "Logged in to code.example as ann"' } = given;
  if (gh !== null) write('bin/gh', `#!/bin/sh\n${gh}\n`, 0o755);
  mkdirSync(programs, { recursive: true });
  symlinkSync('/usr/bin/git', join(programs, 'git'));
  const inside = {
    ...terminal,
    folder: app,
    environment: { ...terminal.environment, PATH: programs },
  };
  const check = (...words: string[]) => runCommandLine(inside, ['check-project-setup', ...words]);
  return {
    terminal,
    inside,
    app,
    home,
    write,
    check,
    global: join(home, '.config/svc/config.json'),
    context: join(app, '.svc/.workflow-context.json'),
    /** The findings of one check: `level found`. */
    about: async (name: string, expectedCode: number) => {
      expect(await check()).toBe(expectedCode);
      const lines = terminal.printed().split('\n');
      return lines.filter((line) => line.split(/ +/)[1] === name).map((line) => line.replace(/ +/g, ' '));
    },
  };
}

test('one line for each check, each with a plain mark, and a word at the end', async () => {
  const { terminal, check, app, home } = checkout();
  expect(await check()).toBe(0);
  expect(
    terminal
      .printed()
      .split('\n')
      .map((line) => line.split(/ {2,}/).slice(0, 2)),
  ).toEqual([
    ['ok', 'project-file'],
    ['ok', 'configuration'],
    ['ok', 'project-key'],
    ['ok', 'ticket-prefix'],
    ['ok', 'state-map'],
    ['ok', 'state-ids'],
    ['ok', 'secrets'],
    ['ok', 'git'],
    ['ok', 'code-host'],
    ['ok', 'registration'],
    ['ok', 'workflow-context'],
    ['warning', 'daemon'],
    ['ok', 'version'],
    ['No errors, 1 warning.'],
  ]);
  expect(terminal.printed()).toContain(`${join(app, '.svc', 'config.json')}\n`);
  expect(terminal.printed()).toContain('gh is logged in: ann at code.example');
  expect(terminal.printed() + terminal.complained()).not.toContain(token);
  expect(existsSync(join(home, 'svc', 'daemon.json'))).toBe(false);
});

test('--json has the same findings', async () => {
  const { terminal, check } = checkout({ project: { svc: { projectKey: 'app', feedbak: {} } } });
  expect(await check('--json')).toBe(0);
  const report = JSON.parse(terminal.printed());
  expect(report).toMatchObject({ ok: true, errors: 0 });
  expect(report.findings).toContainEqual({
    check: 'configuration',
    level: 'warning',
    found: expect.stringContaining('svc.feedbak: unknown key.'),
    remedy: 'Did you mean feedback?',
    problem: { code: 'unknown-key', file: expect.any(String), line: 1, key: 'svc.feedbak' },
  });
  expect(report.warnings).toBe(
    report.findings.filter(({ level }: { level: string }) => level === 'warning').length,
  );
});

test('an unknown flag is usage', async () => {
  expect(await checkout().check('--fast')).toBe(2);
});

test('a second pass changes nothing', async () => {
  const { check, global, context, home } = checkout();
  const state = () =>
    [global, context, join(home, 'app/.svc/config.json'), join(home, 'app/.svc/.gitignore')].map((file) =>
      readFileSync(file, 'utf8'),
    );
  await check();
  const before = state();
  expect(await check()).toBe(0);
  expect(state()).toEqual(before);
});

describe('configuration', () => {
  test('an error of the configuration fails the check, with file, key, expected and found', async () => {
    const { about, app } = checkout({ project: { svc: { ...whole.svc, feedback: { autoFile: 'yes' } } } });
    expect(await about('configuration', 1)).toEqual([
      `error configuration ${app}/.svc/config.json:1: svc.feedback.autoFile: expected true or false, found string "yes". See the allowed values: svc config explain svc.feedback.autoFile`,
    ]);
  });

  test('a prefix that is not the team key is an error', async () => {
    const { about } = checkout({ project: { svc: { ...whole.svc, project: { ticketPrefix: 'XYZ' } } } });
    expect(await about('ticket-prefix', 1)).toEqual([
      expect.stringMatching(/^error .*they must be equal\. Run: svc config set svc\.project\.ticketPrefix/),
    ]);
  });

  test('a folder without a project is an error, and nothing is created there', async () => {
    const { about, app, global } = checkout({ project: null });
    expect(await about('project-file', 1)).toEqual([expect.stringMatching(/^error .*no project found here/)]);
    expect(existsSync(join(app, '.svc'))).toBe(false);
    expect(existsSync(global)).toBe(false);
  });

  test('.claude/ is accepted with a note', async () => {
    const { about, write } = checkout({ project: null });
    write('app/.claude/config.json', whole);
    expect(await about('project-file', 0)).toEqual([
      expect.stringMatching(/^ok .*a deprecated location that still works\. To move it: /),
    ]);
  });

  test('ids that are not cached are a warning with the command', async () => {
    const { about } = checkout({
      project: { svc: { ...whole.svc, tracker: { teamKey: 'ABC' } } },
    });
    expect(await about('state-ids', 0)).toEqual([
      expect.stringMatching(/^warning .*Run: svc resolve-tracker-ids$/),
    ]);
  });

  test('the content of a file cannot control the terminal', async () => {
    const { terminal, check } = checkout({
      project: { svc: { ...whole.svc, tracker: { stateMap: { done: 'Done\u001b[2J\nok' } } } },
    });
    await check();
    expect(terminal.printed()).not.toContain('\u001b');
    expect(terminal.printed()).toContain('done: Done?[2J ok');
  });
});

describe('secrets', () => {
  test('no file is needed if the tickets are issues of the repository', async () => {
    const tracker = { provider: 'github', teamId: 'acme/app', stateIds: whole.svc.tracker.stateIds };
    const { about } = checkout({ project: { svc: { ...whole.svc, projectKey: 'other', tracker } } });
    expect(await about('secrets', 0)).toEqual(['ok secrets none needed: gh reads and moves the tickets']);
  });

  test('a secrets file that other users can read is an error', async () => {
    const { about, write } = checkout();
    const file = write('.config/svc/config-app.json', secrets, 0o644);
    expect(await about('secrets', 1)).toEqual([
      `error secrets ${file} has mode 644, so other users can read it; it must be 600. Run: chmod 600 '${file}'`,
    ]);
  });

  test('so is a file with a webhook secret', async () => {
    const { about, write } = checkout();
    const file = write('.config/svc/webhook-secret', 'hush', 0o640);
    expect(await about('secrets', 1)).toEqual([expect.stringContaining(`${file} has mode 640`)]);
  });

  test('without one the global file counts; without that it is a warning', async () => {
    const svc = { ...whole.svc, projectKey: 'other' };
    const { about } = checkout({ project: { svc } });
    const warning = expect.stringMatching(/^warning .*config-other\.json does not exist/);
    expect(await about('secrets', 0)).toEqual([warning]);
    // The global file is there now, for the registration; that is no secret.
    expect(await about('secrets', 0)).toEqual([warning, warning]);
    const second = checkout({ project: { svc } });
    second.write('.config/svc/config.json', { svc: { tracker: { apiToken: token } } }, 0o600);
    expect(await second.about('secrets', 0)).toEqual([expect.stringMatching(/^ok .*the global file/)]);
  });

  test('a team without a token is a warning', async () => {
    const { about, write } = checkout();
    write('.config/svc/config-app.json', {}, 0o600);
    expect(await about('secrets', 0)).toEqual([
      expect.stringMatching(/^warning .*no token .*svc config set svc\.tracker\.apiToken - < file$/),
    ]);
  });
});

describe('programs', () => {
  test('gh that is not there is an error', async () => {
    expect(await checkout({ gh: null }).about('code-host', 1)).toEqual([
      expect.stringMatching(/^error .*gh cannot be started \(ENOENT\)\. Install gh, then run: gh auth login/),
    ]);
  });

  test('the merge settings of the configured repository are checked; unreadable ones are not an error', async () => {
    const project = { svc: { ...whole.svc, repository: { org: 'acme', name: 'web' } } };
    expect(await checkout({ project }).about('merge-settings', 0)).toEqual([
      expect.stringMatching(/^warning .*acme\/web: the merge settings cannot be read/),
    ]);
    const gh = 'echo "To get started, please run: gh auth login" >&2; exit 4';
    expect(await checkout({ project, gh }).about('merge-settings', 1)).toEqual([]);
    expect(await checkout().about('merge-settings', 0)).toEqual([]);
  });

  test('gh that is logged out is an error', async () => {
    const gh = 'echo "To get started, please run: gh auth login" >&2; exit 4';
    expect(await checkout({ gh }).about('code-host', 1)).toEqual([
      expect.stringMatching(/^error .*gh is not logged in .*\. Run: gh auth login/),
    ]);
  });

  test('a code host that cannot be reached is a warning', async () => {
    const gh = 'echo "error connecting to code.example" >&2; exit 1';
    expect(await checkout({ gh }).about('code-host', 0)).toEqual([
      expect.stringMatching(/^warning .*cannot be reached .*gh auth status$/),
    ]);
  });

  test('a folder outside of git is an error', async () => {
    const { about, app } = checkout({ git: false });
    expect(await about('git', 1)).toEqual([expect.stringContaining(`${app} is not in a git work tree`)]);
  });
});

describe('registration', () => {
  test('the project is added once to the list in the global file', async () => {
    const { check, write, app, global } = checkout();
    write('.config/svc/config.json', '{\n  "svc": { "projects": ["/elsewhere"] }\n}\n', 0o600);
    for (let pass = 0; pass < 3; pass += 1) expect(await check()).toBe(0);
    expect(JSON.parse(readFileSync(global, 'utf8')).svc.projects).toEqual(['/elsewhere', app]);
  });

  test('many at once lose none', async () => {
    const { inside, home, write, global } = checkout();
    const names = Array.from({ length: 8 }, (_, index) => `p${index}`);
    for (const name of names) {
      write(`${name}/.svc/config.json`, whole);
      execFileSync('git', ['init', '--quiet', join(home, name)]);
    }
    const codes = await Promise.all(
      names.map((name) => runCommandLine(inside, ['check-project-setup', '--project', join(home, name)])),
    );
    expect(new Set(codes)).toEqual(new Set([0]));
    const listed = JSON.parse(readFileSync(global, 'utf8')).svc.projects;
    expect(listed.toSorted()).toEqual(names.map((name) => join(home, name)));
  });

  test('a worktree is registered by the folder of the main one, and has its own context', async () => {
    const { inside, app, home, global } = checkout();
    const git = (...words: string[]) =>
      execFileSync('git', ['-C', app, '-c', 'user.name=a', '-c', 'user.email=a@b.c', ...words]);
    git('add', '.svc/config.json');
    git('commit', '--quiet', '-m', 'one');
    const worktree = join(home, 'ABC-7');
    git('worktree', 'add', '--quiet', '-b', 'ABC-7', worktree);
    expect(await runCommandLine({ ...inside, folder: worktree }, ['check-project-setup'])).toBe(0);
    expect(JSON.parse(readFileSync(global, 'utf8')).svc.projects).toEqual([app]);
    const context = join(worktree, '.svc/.workflow-context.json');
    expect(JSON.parse(readFileSync(context, 'utf8')).currentTicket).toBe('ABC-7');
  });

  test('a global file that is broken is left as it is, and is an error', async () => {
    const { about, write, global } = checkout();
    write('.config/svc/config.json', '{ "svc": ', 0o600);
    expect(await about('registration', 1)).toEqual([expect.stringMatching(/^error .*nothing was changed/)]);
    expect(readFileSync(global, 'utf8')).toBe('{ "svc": ');
  });
});

describe('workflow context', () => {
  test('it is created if missing, and kept otherwise', async () => {
    const { about, context, terminal } = checkout();
    expect(await about('workflow-context', 0)).toEqual([
      `ok workflow-context ${context}, created now, no ticket yet`,
    ]);
    expect(existsSync(context)).toBe(true);
    const made = JSON.parse(readFileSync(context, 'utf8'));
    expect(made).toMatchObject({ lastUpdated: terminal.now().toISOString(), currentTicket: null });
    writeFileSync(context, JSON.stringify({ ...made, currentTicket: 'ABC-9', mine: 1 }));
    expect((await about('workflow-context', 0)).at(-1)).toBe(`ok workflow-context ${context}, ticket ABC-9`);
    expect(JSON.parse(readFileSync(context, 'utf8'))).toMatchObject({ currentTicket: 'ABC-9', mine: 1 });
  });

  test('one that is corrupt is an error and is not overwritten', async () => {
    const { about, write, context } = checkout();
    write('app/.svc/.workflow-context.json', '{"currentTicket": 5}');
    expect(await about('workflow-context', 1)).toEqual([
      expect.stringMatching(/^error .*is not a workflow context/),
    ]);
    expect(readFileSync(context, 'utf8')).toBe('{"currentTicket": 5}');
  });
});

describe('liveness', () => {
  const warning = 'warning: the daemon: it is not running. Start it: svc monitor start';

  test('stdin that is not a terminal: no question, a warning on stderr, and it continues', async () => {
    const { terminal, about } = checkout();
    expect(await about('daemon', 0)).toEqual([
      'warning daemon it is not running. Start it: svc monitor start',
    ]);
    expect(terminal.questions).toEqual([]);
    expect(terminal.complained()).toBe(warning);
  });

  test('SVC_AUTONOMOUS=1 at a terminal: the same', async () => {
    const { terminal, check } = checkout({ answers: [''], environment: { SVC_AUTONOMOUS: '1' } });
    expect(await check('--json')).toBe(0);
    expect(terminal.questions).toEqual([]);
    expect(terminal.complained()).toBe(warning);
    expect(JSON.parse(terminal.printed()).findings.at(-1).check).toBe('version');
  });

  test.each([['n'], ['No'], ['later'], [undefined]])(
    'at a terminal it asks [Y/n]; the answer %j is a decline, which is a warning and fails nothing',
    async (answer) => {
      const { terminal, about, home } = checkout({ answers: [answer] });
      expect(await about('daemon', 0)).toEqual([
        'warning daemon it is not running, and was not started: declined. Start it: svc monitor start',
      ]);
      expect(terminal.questions).toEqual(['The daemon: it is not running. Start it? [Y/n] ']);
      expect(terminal.complained()).toBe('');
      expect(existsSync(join(home, 'svc', 'daemon.json'))).toBe(false);
    },
  );

  test('a requested start that fails is an error with the daemon’s message', async () => {
    const { inside, terminal } = checkout({ answers: ['y'] });
    const program = createCommand('svc').addCommand(
      checkProjectSetupVerb(inside, { program: ['/bin/false'] }),
    );
    await expect(program.parseAsync(['check-project-setup'], { from: 'user' })).rejects.toBeInstanceOf(
      AnswerIsNo,
    );
    expect(terminal.printed()).toMatch(/^error +daemon +The daemon did not start \(exit code 1\)/m);
  });

  test('a hanging daemon is a warning with its remedy; there is no question to start a second one', async () => {
    const { terminal, about, home } = checkout({ answers: [''] });
    const instance = claimInstance(join(home, 'svc'));
    onTestFinished(() => instance?.withdraw());
    await instance?.announce({
      state: 'running',
      instance: '00000000-0000-4000-8000-000000000001',
      pid: 4_194_305,
      port: 1,
      url: 'http://127.0.0.1:1',
      version: '0.0.1',
      startedAt: '2026-01-02T03:04:05.678Z',
    });
    expect(await about('daemon', 0)).toEqual([
      expect.stringMatching(/^warning daemon it runs \(pid 4194305\) but does not answer\..*kill -9 4194305/),
    ]);
    expect(terminal.questions).toEqual([]);
  });
});

describe('version drift', () => {
  function stale(project: unknown = whole) {
    const place = checkout({ project, environment: { SVC_VERSION_FILE: '~/version.txt' } });
    place.write('version.txt', '1.0.0\n');
    mkdirSync(join(place.home, '.claude/plugins/cache/svc/svc-dev/2.0.0'), { recursive: true });
    return place;
  }

  test('it is a warning with the command that fixes it', async () => {
    expect(await stale().about('version', 0)).toEqual([
      'warning version version 1.0.0 is older than the installed 2.0.0. Update svc, then run: svc monitor restart',
    ]);
  });

  test('suppressVersionWarning suppresses it', async () => {
    const svc = { ...whole.svc, monitor: { suppressVersionWarning: true } };
    expect(await stale({ svc }).about('version', 0)).toEqual([
      'ok version 1.0.0; 2.0.0 is the newest installed; the warning is suppressed',
    ]);
  });
});
