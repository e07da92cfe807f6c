import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CommandEnd, type RunCommand, runCommand } from '@svc/lib/process';
import { temporaryFolder, until, WAIT_MS } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { draft, openTestLog, readAllLines } from '../../../kernel/log/testing/sample-log.ts';
import type { Effect } from '../../../kernel/outbox/effect.ts';
import { createRuleCommands } from './run-command.ts';

type RunEffect = Extract<Effect, { kind: 'run-command' }>;

/** How long an attempt waits in tests of a command that does not end meanwhile. */
const SHORT_MS = 50;

const ok: CommandEnd = { ended: 'exit', exitCode: 0, stdout: '', stderr: '' };

async function setUp() {
  const folder = temporaryFolder();
  const log = openTestLog(folder);
  onTestFinished(log.close);
  const line = await log.append(draft({ scope: { ticket: 'A-1' } }));
  const effect: RunEffect = {
    key: '9:run-command:r',
    seq: 9,
    kind: 'run-command',
    rule: 'r',
    ticket: 'A-1',
    command: 'note',
    line: line.seq,
  };
  return {
    folder,
    line,
    effect,
    /** Commands in one instance of the daemon. */
    instance: (
      run: RunCommand,
      {
        argv = ['note', '--', '$SVC_EVENT_TICKET'],
        waitMs = WAIT_MS,
      }: { argv?: string[]; waitMs?: number } = {},
    ) =>
      createRuleCommands({
        commands: () => ({ note: { argv, timeoutSeconds: WAIT_MS / 1000 } }),
        environment: { PATH: process.env['PATH'], SVC_WEBHOOK_SECRET: 'hush' },
        log,
        run,
        now: () => Date.now(),
        waitMs,
      }),
    facts: () =>
      readAllLines(join(folder, 'events'))
        .filter(({ event }) => event.startsWith('workflow.rule.command_'))
        .map(({ event, detail }) => [event.split('_').at(-1), detail['run'], detail['outcome']]),
  };
}

test('a real program gets its arguments as written, the line on standard input, and no secrets', async () => {
  const { folder, line, effect, instance, facts } = await setUp();
  const program = join(folder, 'note.sh');
  writeFileSync(
    program,
    `#!/bin/sh\nprintf '%s\\n' "$@" > '${folder}/args'\nenv > '${folder}/env'\ncat > '${folder}/in'\n`,
  );
  chmodSync(program, 0o755);
  const commands = instance(runCommand, { argv: [program, '$SVC_EVENT_TICKET', '; id'] });
  expect(await commands.handle(effect, { number: 1 })).toEqual({ done: 'note ran' });
  expect(readFileSync(join(folder, 'args'), 'utf8')).toBe('$SVC_EVENT_TICKET\n; id\n');
  expect(JSON.parse(readFileSync(join(folder, 'in'), 'utf8'))).toEqual(JSON.parse(JSON.stringify(line)));
  const environment = readFileSync(join(folder, 'env'), 'utf8');
  expect(environment).toContain('SVC_EVENT_TICKET=A-1');
  expect(environment).not.toContain('hush');
  expect(facts()).toEqual([
    ['started', 1, undefined],
    ['ended', 1, 'ok'],
  ]);
});

test('a long-running one is awaited, and runs once', async () => {
  const { effect, instance, facts } = await setUp();
  const end = Promise.withResolvers<CommandEnd>();
  let runs = 0;
  const commands = instance(
    () => {
      runs += 1;
      return end.promise;
    },
    { waitMs: SHORT_MS },
  );
  for (const _ of [1, 2, 3])
    expect(await commands.handle(effect, { number: 1 })).toEqual({
      failed: 'note is running',
      waiting: true,
      retryAfterMs: SHORT_MS,
    });
  end.resolve(ok);
  const outcome = await until(async () => {
    const tried = await commands.handle(effect, { number: 1 });
    return 'done' in tried && tried;
  });
  expect(outcome).toEqual({ done: 'note ran' });
  expect(runs).toBe(1);
  expect(facts()).toHaveLength(2);
});

test('a failure is retried, three attempts in all, each with its reason', async () => {
  const { effect, instance, facts } = await setUp();
  const ends: CommandEnd[] = [
    { ...ok, exitCode: 3 },
    { ended: 'not-started', reason: 'ENOENT' },
    { ended: 'timeout' },
  ];
  const commands = instance(async () => ends.shift() ?? ok);
  expect(await commands.handle(effect, { number: 1 })).toEqual({
    failed: 'note ended with exit code 3',
    permanent: false,
  });
  expect(await commands.handle(effect, { number: 2 })).toMatchObject({
    failed: expect.stringContaining('ENOENT'),
  });
  expect(await commands.handle(effect, { number: 3 })).toEqual({
    failed: 'note took longer than its timeoutSeconds',
    permanent: true,
  });
  // A person retries it: the outbox counts from 1 again.
  commands.tryAgain(effect.key);
  expect(await commands.handle(effect, { number: 1 })).toEqual({ done: 'note ran' });
  expect(facts().at(-1)).toEqual(['ended', 4, 'ok']);
});

test('after a kill while it ran it is not run again, until a person retries it', async () => {
  const { effect, instance, facts } = await setUp();
  let runs = 0;
  const first = instance(
    () => {
      runs += 1;
      return new Promise(() => undefined);
    },
    { waitMs: SHORT_MS },
  );
  await first.handle(effect, { number: 1 });

  const count: RunCommand = async () => {
    runs += 1;
    return ok;
  };
  const second = instance(count);
  const unknown = { failed: expect.stringContaining('its result is unknown'), permanent: true };
  expect(await second.handle(effect, { number: 1 })).toEqual(unknown);
  // Killed again before the outbox stored that it gave up.
  expect(await instance(count).handle(effect, { number: 1 })).toEqual(unknown);
  expect(runs).toBe(1);
  second.tryAgain(effect.key);
  expect(await second.handle(effect, { number: 1 })).toEqual({ done: 'note ran' });
  expect(runs).toBe(2);
  // Killed before the outbox knew of it: whatever follows, it does not run a third time.
  expect(await instance(count).handle(effect, { number: 1 })).toEqual(unknown);
  expect(runs).toBe(2);
  expect(facts().filter(([name]) => name === 'ended')).toEqual([
    ['ended', 1, 'unknown'],
    ['ended', 2, 'ok'],
  ]);
});

test('after a kill between its end and the report to the outbox it is done', async () => {
  const { effect, instance } = await setUp();
  let runs = 0;
  const count: RunCommand = async () => {
    runs += 1;
    return ok;
  };
  expect(await instance(count).handle(effect, { number: 1 })).toEqual({ done: 'note ran' });
  expect(await instance(count).handle(effect, { number: 1 })).toEqual({ done: 'note has run already' });
  expect(runs).toBe(1);
});

test('stopping the daemon ends it, and that is logged', async () => {
  const { folder, effect, instance, facts } = await setUp();
  const argv = ['sh', '-c', `sleep 300; touch '${folder}/late'`];
  const commands = instance(runCommand, { argv, waitMs: SHORT_MS });
  expect(await commands.handle(effect, { number: 1 })).toMatchObject({ waiting: true });
  await commands.stop();
  expect(facts().at(-1)).toEqual(['ended', 1, 'unknown']);
  expect(existsSync(join(folder, 'late'))).toBe(false);
  expect(await commands.handle(effect, { number: 1 })).toMatchObject({ waiting: true });
});

test('a missing command, and a missing line', async () => {
  const { effect, instance, facts } = await setUp();
  const commands = instance(async () => ok);
  expect(await commands.handle({ ...effect, command: 'other' }, { number: 1 })).toMatchObject({
    failed: expect.stringContaining('svc.commands has no command other'),
    permanent: true,
  });
  expect(await commands.handle({ ...effect, line: 999 }, { number: 1 })).toEqual({
    failed: 'event 999 cannot be read from the log',
  });
  expect(facts()).toEqual([]);
});
