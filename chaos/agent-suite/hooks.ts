// Agents that a person starts: the real program at a real terminal, with the hooks that `svc hooks install` adds to its
// settings. The keys are sent as a person presses them, and the board is compared with the screen.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import type { BoardView } from '../../packages/monitor/src/features/board/api.ts';
import { type HookedAgent, takesAnswers } from '../../packages/monitor/src/features/sessions/hook-event.ts';
import { secondsSince, writeInto } from '../../packages/testkit/src/script.ts';
import { WAIT_MS } from '../../packages/testkit/src/waiting.ts';
import { openWorld } from '../world.ts';
import { binFolder, KEY, type Program } from './programs.ts';
import { MARKER } from './replies.ts';

const LONGEST_MS = WAIT_MS;
/** Longer than a hook waits for an answer. */
const LONGEST_OPEN_MS = 1.5 * WAIT_MS;
/** Within this time the board must show what the screen shows. */
const VISIBLE_MS = 2_000;
const BRANCH = 'trial';

export const hookChecks = [
  'session appears',
  'waits for permission',
  'goes on',
  'idle',
  'rejected',
  'ended',
  'killed',
  'answered through svc',
  'settings as before',
] as const;
type HookCheck = (typeof hookChecks)[number];
export type HookResult = {
  name: string;
  version: string;
  outcomes: Record<HookCheck, { ok: boolean; note: string }>;
};

type Person = {
  /** Starts an interactive session with a first prompt. */
  command: (bin: string, prompt: string) => string[];
  /** What its settings are before the hooks, with the spacing of a person. */
  settings: string | null;
  file: string;
  /** Other files of its home, so that it asks nothing at its first start. */
  files?: (folder: string, settings: string) => Record<string, string>;
  /** The screen while it asks for permission, without spaces: some agents move the cursor instead. */
  asks: RegExp;
  allow: string;
  reject: string;
  exit: string;
};

const people: Readonly<Record<HookedAgent, Person>> = {
  claude: {
    command: (bin, prompt) => [
      join(bin, '../@anthropic-ai/claude-agent-sdk-linux-x64/claude'),
      '--permission-mode',
      'default',
      prompt,
    ],
    file: '.claude/settings.json',
    settings: '{\n    "theme":"dark",\n    "permissions": { "allow": [ ] }\n}\n',
    files: (folder) => ({
      '.claude.json': JSON.stringify({
        hasCompletedOnboarding: true,
        customApiKeyResponses: { approved: [KEY.slice(-20)], rejected: [] },
        projects: { [folder]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
      }),
    }),
    asks: /Doyouwantto/,
    allow: '\r',
    reject: '\u001b',
    exit: '/exit',
  },
  codex: {
    command: (bin, prompt) => [join(bin, 'codex'), '--dangerously-bypass-hook-trust', prompt],
    file: '.codex/hooks.json',
    settings: null,
    files: (folder, settings) => ({
      '.codex/config.toml': `${settings}\n[projects.${JSON.stringify(folder)}]\ntrust_level = "trusted"\n`,
    }),
    asks: /Wouldyouliketorun|Allowcommand/,
    allow: 'y',
    reject: '\u001b',
    exit: '/quit',
  },
  gemini: {
    command: (bin, prompt) => [join(bin, 'gemini'), '-i', prompt],
    file: '.gemini/settings.json',
    settings:
      '{\n  // mine\n  "security": { "auth": { "selectedType": "gemini-api-key" } },\n  "general": {"enableAutoUpdate": false}\n}',
    asks: /Allowexecution|Allowonce/,
    allow: '\r',
    reject: '\u001b',
    exit: '/quit',
  },
  copilot: {
    command: (bin, prompt) => [join(bin, 'copilot'), '-i', prompt],
    file: '.copilot/hooks/svc.json',
    settings: null,
    files: (folder) => ({
      '.copilot/config.json': JSON.stringify({ trusted_folders: [folder], banner: 'never' }),
    }),
    asks: /Doyouwantto/,
    allow: '\r',
    reject: '\u001b',
    exit: '/exit',
  },
};

export function isHooked(name: string): name is HookedAgent {
  return Object.hasOwn(people, name);
}

export async function checkHooks(
  program: Program & { name: HookedAgent },
  cache: string,
  url: string,
  useFolder: (folder: string) => void,
): Promise<HookResult> {
  const person = people[program.name];
  const bin = binFolder(program, cache);
  const variables = { ...program.environment(url), PATH: `${bin}:${process.env['PATH'] ?? ''}` };
  const world = await openWorld(`hooks-${program.name}`, variables);
  const { home, daemon, svc, git } = world;
  const folder = join(home.home, 'web');
  useFolder(folder);
  writeInto(folder, 'a.txt', 'one\n');
  git(folder, 'init', '-q', '-b', BRANCH);
  for (const [path, text] of Object.entries({
    ...program.settings?.(url),
    ...person.files?.(folder, Object.values(program.settings?.(url) ?? {}).join('\n')),
    ...(person.settings !== null && { [person.file]: person.settings }),
  }))
    writeInto(home.home, path, text);
  const outcomes: Partial<HookResult['outcomes']> = {};
  const terminals: Terminal[] = [];

  async function check(name: HookCheck, work: () => Promise<string | undefined>): Promise<void> {
    const started = performance.now();
    const outcome = await work().then(
      (note) => ({ ok: true, note: note ?? '' }),
      (error: Error) => ({ ok: false, note: error.message }),
    );
    outcomes[name] = outcome;
    const said = [outcome.ok ? 'ok' : 'FAILED', outcome.note].filter(Boolean).join(': ');
    console.log(`${program.name}: hooks: ${name}: ${said} (${secondsSince(started)} s)`);
    if (!outcome.ok && process.env['SUITE_SCREEN']) console.log(terminals.at(-1)?.screen().slice(-3_000));
  }

  function start(prompt: string): Terminal {
    const terminal = atTerminal(person.command(bin, prompt), folder, {
      HOME: home.home,
      LANG: 'C.UTF-8',
      TERM: 'xterm-256color',
      ...variables,
    });
    terminals.push(terminal);
    return terminal;
  }

  /** The newest session. */
  async function session(): Promise<BoardView['sessions'][number] | undefined> {
    return (await daemon.board())?.sessions.toSorted((one, other) => other.lastSeq - one.lastSeq)[0];
  }

  async function untilState(...states: string[]): Promise<number> {
    const started = performance.now();
    for (;;) {
      const state = (await session())?.state;
      if (state !== undefined && states.includes(state)) return performance.now() - started;
      if (performance.now() - started > LONGEST_MS)
        throw new Error(`it is ${state ?? 'not shown'}, not ${states.join(' or ')}`);
      await sleep(50);
    }
  }

  /** Until the newest session has a request that can be answered, or none. */
  async function untilOpen(isOpen: boolean): Promise<number> {
    const started = performance.now();
    for (; ((await session())?.open.length ?? 0) > 0 !== isOpen; await sleep(50))
      if (performance.now() - started > LONGEST_OPEN_MS)
        throw new Error(isOpen ? 'there is no open request' : 'the request is still open');
    return performance.now() - started;
  }

  /** A busy agent may lose keys. */
  async function leave(): Promise<void> {
    for (let tries = 0; tries < 3; tries += 1) {
      await terminals.at(-1)?.enter(person.exit);
      if (await terminals.at(-1)?.ended(LONGEST_MS / 3)) return;
    }
    throw new Error('it did not exit');
  }

  const run = (...words: string[]): Promise<void> => world.mustRun(folder, ...words);
  const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(1)} s`;
  const inTime = (milliseconds: number): string => {
    expect(milliseconds <= VISIBLE_MS, `the board shows it ${seconds(milliseconds)} later`);
    return seconds(milliseconds);
  };

  try {
    daemon.start();
    await daemon.ready();
    await run('hooks', 'install', program.name, '--yes');
    let terminal = start(`${MARKER}command allowed`);
    await check('session appears', async () => {
      await untilState('idle', 'running', 'needs-permission');
      const shown = await session();
      expect(
        shown?.folder === folder && shown.branch === BRANCH,
        `it is shown in ${shown?.folder} ${shown?.branch}`,
      );
      expect(shown?.known === 'hook', `it is known by ${shown?.known}`);
      return shown?.pid === null ? 'without its process' : '';
    });
    await check('waits for permission', async () => {
      await terminal.until(person.asks);
      const late = await untilState('needs-permission');
      expect(
        await daemon.waitFor(
          ({ attention }) => attention.some(({ reason }) => reason === 'agent-needs-permission'),
          LONGEST_MS,
        ),
        'there is no attention item',
      );
      return inTime(late);
    });
    await check('goes on', async () => {
      terminal.press(person.allow);
      await untilTrue(() => existsSync(join(folder, 'made-by-allowed')), 'the command did not run');
      // The agent notices the end of its command later than this script.
      return seconds(await untilState('running', 'idle'));
    });
    await check('idle', async () => {
      await untilState('idle');
      expect(
        await daemon.waitFor(({ attention }) => attention.length === 0, LONGEST_MS),
        'the attention item is still open',
      );
      return '';
    });
    await check('rejected', async () => {
      terminal.forget();
      await terminal.enter(`${MARKER}command rejected`);
      await terminal.until(person.asks);
      await untilState('needs-permission');
      await sleep(500);
      terminal.press(person.reject);
      const late = await untilState('running', 'idle', 'unknown');
      return `${inTime(late)}, ${(await session())?.state}`;
    });
    await check('ended', async () => {
      await leave();
      const late = await untilState('ended');
      return `${inTime(late)}, known by ${(await session())?.known}`;
    });
    await check('killed', async () => {
      terminal = start(`${MARKER}slow`);
      await untilState('running');
      terminal.kill();
      const late = await untilState('ended');
      return `${inTime(late)}, known by ${(await session())?.known}`;
    });
    await check('answered through svc', async () => {
      const install = ['hooks', 'install', program.name, '--answer', '--yes'];
      if (!takesAnswers(program.name)) {
        const { code, printed } = await svc(folder, ...install);
        expect(code === 2 && printed.includes('only report'), `it is not refused: ${printed}`);
        return 'refused';
      }
      await run(...install);
      const made = (name: string): boolean => existsSync(join(folder, `made-by-${name}`));
      const answer = async (given: string): Promise<void> => {
        await terminal.until(person.asks);
        await untilOpen(true);
        await run('agent', 'answer', (await session())?.key ?? '', given);
      };
      terminal = start(`${MARKER}command answered`);
      await answer('allow');
      await untilTrue(() => made('answered'), 'it was allowed, and the command did not run');
      await untilState('idle');
      terminal.forget();
      await terminal.enter(`${MARKER}command refused`);
      await answer('reject');
      await untilState('idle');
      expect(!made('refused'), 'it was rejected, and the command ran');
      terminal.forget();
      await terminal.enter(`${MARKER}command unanswered`);
      await terminal.until(person.asks);
      await untilOpen(true);
      const waited = await untilOpen(false);
      expect((await session())?.state === 'needs-permission' && !made('unanswered'), 'it no longer asks');
      terminal.press(person.allow);
      await untilTrue(() => made('unanswered'), 'the terminal did not ask');
      await untilState('idle');
      await leave();
      return `allowed, rejected, and without an answer left to the terminal after ${seconds(waited)}`;
    });
    await check('settings as before', async () => {
      await run('hooks', 'remove', program.name, '--yes');
      const file = join(home.home, person.file);
      const after = existsSync(file) ? readFileSync(file, 'utf8') : null;
      expect(after === person.settings, `${person.file} is different`);
      return person.settings === null ? 'the file is gone' : 'byte for byte';
    });
  } finally {
    for (const terminal of terminals) terminal.kill();
    await world.close();
  }
  // Every check was made above.
  return { name: program.name, version: program.version, outcomes: outcomes as HookResult['outcomes'] };
}

type Terminal = ReturnType<typeof atTerminal>;

/** The terminal is that of script(1). */
function atTerminal(command: readonly string[], cwd: string, env: Record<string, string>) {
  const words = command.map((word) => `'${word}'`).join(' ');
  const child: ChildProcessWithoutNullStreams = spawn(
    'script',
    ['-qfec', `stty rows 40 cols 120; exec ${words}`, '/dev/null'],
    { cwd, env, detached: true },
  );
  child.stdin.on('error', () => undefined);
  let screen = '';
  let end: (() => void) | undefined;
  const gone = new Promise<void>((resolve) => (end = resolve));
  child.once('exit', () => end?.());
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen = (screen + text).slice(-200_000);
    // Some wait for the answer of the terminal to "where is the cursor?".
    if (text.includes('\u001b[6n')) child.stdin.write('\u001b[1;1R');
  });
  return {
    screen: () => stripVTControlCharacters(screen),
    forget: () => (screen = ''),
    press: (keys: string) => void child.stdin.write(keys),
    /** With a pause, because keys that come at once are taken for a paste. */
    async enter(text: string) {
      child.stdin.write(text);
      await sleep(700);
      child.stdin.write('\r');
    },
    until: (what: RegExp) =>
      untilTrue(
        () => what.test(stripVTControlCharacters(screen).replaceAll(/\s/g, '')),
        `the screen does not show ${what}`,
      ),
    ended: (timeoutMs: number) =>
      Promise.race([gone.then(() => true), sleep(timeoutMs, false, { ref: false })]),
    /** With everything that runs at this terminal. */
    kill() {
      if (child.pid === undefined || child.exitCode !== null) return;
      for (const pid of [...descendants(child.pid), child.pid])
        try {
          process.kill(pid, 'SIGKILL');
        } catch {
          // It has ended.
        }
    },
  };
}

function descendants(pid: number): number[] {
  const children = `/proc/${pid}/task/${pid}/children`;
  if (!existsSync(children)) return [];
  return readFileSync(children, 'utf8')
    .split(' ')
    .filter((text) => text !== '')
    .flatMap((child) => [...descendants(Number(child)), Number(child)]);
}

async function untilTrue(isSo: () => boolean, problem: string): Promise<void> {
  for (const deadline = performance.now() + LONGEST_MS; !isSo(); await sleep(50))
    if (performance.now() > deadline) throw new Error(problem);
}

function expect(isGood: boolean, problem: string): void {
  if (!isGood) throw new Error(problem);
}
