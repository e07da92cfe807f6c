// Rules with a real daemon: a delivery fires one, its command runs once across kills, the limit holds, and the back-test
// agrees with live firing.
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { svcProgram, temporaryFolder, testTerminal, until } from '@svc/testkit';
import { describe, expect, onTestFinished, test } from 'vitest';
import { runCommandLine } from '../src/cli/run.ts';
import type { BackTest } from '../src/features/rules/io/back-test.ts';
import type { EventLine } from '../src/kernel/log/event-line.ts';
import { startInProcess } from './in-process-daemon.ts';

const SECRET = 'a secret of this test';
const PATH = process.env['PATH'] ?? '';

const merged = {
  name: 'merged',
  enabled: true,
  when: { event: 'codehost.pr.merged', filter: '.scope.pr >= 7' },
  then: { run: 'note' },
};

/** A home with rules, and a command that records each run; it waits while there is a file `hold`. */
function setUp(svc: object) {
  const home = temporaryFolder();
  const runs = join(home, 'runs.txt');
  const hold = join(home, 'hold');
  const program = join(home, 'note.sh');
  const script = [
    '#!/bin/sh',
    `echo "$SVC_RULE $SVC_EVENT_TOPIC $SVC_EVENT_TICKET #$SVC_EVENT_PR $SVC_WEBHOOK_SECRET" >> '${runs}'`,
    `while [ -e '${hold}' ]; do sleep 0.05; done`,
  ];
  writeFileSync(program, `${script.join('\n')}\n`);
  chmodSync(program, 0o755);
  mkdirSync(join(home, '.config', 'svc'), { recursive: true });
  const commands = { note: { argv: [program], timeoutSeconds: 30 } };
  writeFileSync(
    join(home, '.config', 'svc', 'config.json'),
    JSON.stringify({ svc: { projects: [join(home, 'app')], commands, ...svc } }),
  );
  mkdirSync(join(home, 'app', '.svc'), { recursive: true });
  writeFileSync(
    join(home, 'app', '.svc', 'config.json'),
    JSON.stringify({ svc: { project: { ticketPrefix: 'ABC' } } }),
  );
  const eventsDir = join(home, 'svc', 'events');
  return {
    home,
    hold,
    runs: () => (existsSync(runs) ? readFileSync(runs, 'utf8').split('\n').slice(0, -1) : []),
    lines: (event: string): EventLine[] =>
      (existsSync(eventsDir) ? readdirSync(eventsDir) : [])
        .filter((name) => name.endsWith('.jsonl'))
        .toSorted()
        .flatMap((name) => readFileSync(join(eventsDir, name), 'utf8').split('\n').slice(0, -1))
        .map((line) => JSON.parse(line) as EventLine)
        .filter((line) => line.event === event),
    environment: { HOME: home, PATH, SVC_WEBHOOK_SECRET: SECRET, SVC_MONITOR_PORT: '0' },
    async svc(...words: string[]) {
      const terminal = {
        ...testTerminal({ environment: { HOME: home } }),
        home,
        folder: home,
        now: () => new Date(),
      };
      return {
        code: await runCommandLine(terminal, words),
        out: terminal.printed(),
        err: terminal.complained(),
      };
    },
  };
}

let deliveries = 0;

/** A pull request was merged; with `again`, in the same bytes as an earlier delivery. */
async function deliver(url: string, ticket: string, pr: number, again?: number): Promise<number> {
  deliveries += 1;
  const body = JSON.stringify({
    action: 'closed',
    pull_request: {
      id: again ?? deliveries,
      number: pr,
      merged: true,
      title: `${ticket}: something`,
      head: { ref: ticket.toLowerCase(), sha: 'a'.repeat(40) },
      base: { ref: 'main' },
      merge_commit_sha: 'b'.repeat(40),
      html_url: `https://codehost.example/acme/web/pull/${pr}`,
      state: 'closed',
    },
    repository: { full_name: 'acme/web' },
    sender: { login: 'me', type: 'User' },
  });
  const response = await fetch(`${url}/api/webhook`, {
    method: 'POST',
    body,
    headers: {
      'Content-Type': 'application/json',
      'X-Codehost-Event': 'pull_request',
      'X-Codehost-Delivery': `delivery-${deliveries}`,
      'X-Hub-Signature-256': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`,
    },
  });
  expect(await response.json()).toMatchObject({ ok: true, event: 'codehost.pr.merged' });
  return again ?? deliveries;
}

const start = (given: ReturnType<typeof setUp>) =>
  startInProcess({ home: given.home, environment: given.environment });

const isFollowing = async (daemon: Awaited<ReturnType<typeof start>>) => {
  const { follower } = (await daemon.get('/api/rules')).body as { follower: { mode: string } };
  return follower.mode === 'following';
};

test('a replay under new ids runs no command: one real delivery and five replays are one run', async () => {
  const given = setUp({ rules: [merged] });
  const daemon = await start(given);
  await until(() => isFollowing(daemon));
  const first = await deliver(daemon.url, 'ABC-1', 7);
  for (let replay = 0; replay < 5; replay += 1) await deliver(daemon.url, 'ABC-1', 7, first);
  await deliver(daemon.url, 'ABC-2', 8);
  await until(() => given.runs().length >= 2);
  expect(given.runs().map((run) => run.split(' ')[3])).toEqual(['#7', '#8']);
  expect(given.lines('codehost.pr.merged').filter(({ repeatOf }) => repeatOf !== undefined)).toHaveLength(5);
});

test('fires once on a delivery: the command runs with the environment; the limit holds; the back-test agrees', async () => {
  const given = setUp({ rules: [merged] });
  const daemon = await start(given);
  await until(() => isFollowing(daemon));
  for (const [ticket, pr] of [
    ['ABC-1', 7],
    ['ABC-1', 8],
    ['ABC-2', 3],
    ['ABC-3', 9],
  ] as const)
    await deliver(daemon.url, ticket, pr);
  await until(() => given.lines('workflow.rule.command_ended').length >= 1);
  await until(async () => {
    const { body } = await daemon.get('/api/rules');
    return (body['follower'] as { behind: number }).behind === 0;
  });
  const fired = given.lines('workflow.rule.fired');
  await until(() => given.lines('workflow.rule.command_ended').length === fired.length);
  expect(given.runs()).toHaveLength(fired.length);
  expect(given.runs()).toEqual([
    'merged codehost.pr.merged ABC-1 #7 ',
    'merged codehost.pr.merged ABC-3 #9 ',
  ]);

  const tested = JSON.parse((await given.svc('rules', 'test', '--since', '0', '--json')).out) as BackTest;
  const times = tested.rules[0]?.times ?? [];
  expect(times.filter(({ outcome }) => outcome === 'fires').map(({ line }) => line)).toEqual(
    fired.map(({ detail }) => detail['line']),
  );
  expect(times.some(({ outcome }) => outcome === 'limited')).toBe(true);
  const overHttp = await daemon.post('/api/rules/test', JSON.stringify({ name: 'merged', since: '1h' }), {
    'Content-Type': 'application/json',
  });
  expect(overHttp).toMatchObject({ status: 200, body: { complete: true, rules: tested.rules } });

  const { body } = await daemon.get('/api/rules');
  expect(body).toMatchObject({
    rules: [
      { name: 'merged', enabled: true, fired: fired.length, last: { line: fired.at(-1)?.detail['line'] } },
    ],
  });
  expect((await daemon.get('/api/health')).body).toMatchObject({ rules: { state: 'live', active: 1 } });
  const metrics = await (await fetch(`${daemon.url}/metrics`)).text();
  expect(metrics).toContain(`svc_rules_fired_total{rule="merged",outcome="fired"} ${fired.length}`);
  expect(metrics).toMatch(/svc_rules_fired_total\{rule="merged",outcome="limited"\} \d/);
  const listed = await given.svc('rules', 'list');
  expect(listed.out).toMatch(/^on +merged +codehost\.pr\.merged, where .* run note +fired \d+ times, last /);
});

test('attention and notification, which the CLI and a webhook get, and no loop', async () => {
  const got: string[] = [];
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    got.push(await text(request));
    response.end();
  };
  const server = createServer((request, response) => void take(request, response));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => server.close().closeAllConnections());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const given = setUp({
    notify: { webhook: { url } },
    rules: [
      {
        ...merged,
        then: {
          notify: { message: '{repo}#{pr} is merged' },
          attention: { message: 'look at {repo}#{pr}', severity: 'high', remedy: 'svc board' },
        },
      },
      // Would fire on what the first raises, and on itself, forever.
      {
        name: 'echo',
        enabled: true,
        when: { event: '*attention*' },
        then: { attention: { message: 'again' } },
      },
    ],
  });
  const daemon = await start(given);
  await until(() => isFollowing(daemon));
  await deliver(daemon.url, 'ABC-1', 7);
  await until(() => got.length === 2);
  expect(got.map((body) => String(JSON.parse(body).message)).toSorted()).toEqual([
    'acme/web#7 is merged',
    'look at acme/web#7',
  ]);
  expect((await given.svc('attention')).out).toContain('look at acme/web#7');
  // The log is checked in order: once the next one has fired, what the first one raised has been checked.
  await deliver(daemon.url, 'ABC-2', 8);
  await until(() => got.length === 4);
  const fired = given.lines('workflow.rule.fired');
  expect(fired.map(({ scope, detail }) => [detail['rule'], scope.pr])).toEqual([
    ['merged', 7],
    ['merged', 8],
  ]);
  expect(given.lines('comms.attention').map(({ scope }) => scope.pr)).toEqual([7, 8]);
});

describe('kill -9', () => {
  /** The daemon in its own process. */
  async function daemonProcess(given: ReturnType<typeof setUp>) {
    const child = spawn(process.execPath, [svcProgram, 'monitor', 'run'], {
      cwd: given.home,
      env: given.environment,
      stdio: 'ignore',
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const record = join(given.home, 'svc', 'daemon.json');
    const url = await until(() => {
      const said = existsSync(record) ? JSON.parse(readFileSync(record, 'utf8') || '{}') : {};
      return said.pid === child.pid && said.state === 'running' ? String(said.url) : undefined;
    });
    await until(async () => {
      const answer = (await (await fetch(`${url}/api/rules`)).json()) as { follower: { mode: string } };
      return answer.follower.mode === 'following';
    });
    return {
      url,
      kill: () =>
        new Promise<void>((resolve) => {
          child.once('exit', () => resolve());
          child.kill('SIGKILL');
        }),
    };
  }

  test('while the command runs: it does not run twice, and a person is asked', async () => {
    const given = setUp({ rules: [merged] });
    writeFileSync(given.hold, '');
    const first = await daemonProcess(given);
    await deliver(first.url, 'ABC-1', 7);
    await until(() => given.runs().length === 1);
    await first.kill();

    const second = await daemonProcess(given);
    await until(() => given.lines('comms.attention').length === 1);
    expect(given.lines('comms.attention')[0]?.detail).toMatchObject({
      reason: 'outbox-gave-up',
      message: expect.stringContaining('its result is unknown'),
      remedy: expect.stringMatching(/^svc outbox retry \d+:run-command:merged$/),
    });
    expect(given.lines('workflow.rule.fired')).toHaveLength(1);
    expect(given.runs()).toHaveLength(1);
    await second.kill();
  });

  test('between the firing and the run: it runs once', async () => {
    // The outbox runs what is accepted immediately, so this state is made by hand: the log ends with the firing.
    const given = setUp({ rules: [merged] });
    const first = await daemonProcess(given);
    await deliver(first.url, 'ABC-0', 3);
    await first.kill();
    const [line] = given.lines('codehost.pr.merged');
    const [file] = readdirSync(join(given.home, 'svc', 'events')).filter((name) => name.endsWith('.jsonl'));
    if (line === undefined || file === undefined) throw new Error('the delivery is not in the log');
    const last =
      readFileSync(join(given.home, 'svc', 'events', file), 'utf8')
        .trim()
        .split('\n')
        .at(-1) ?? '';
    const seq = (JSON.parse(last) as EventLine).seq + 1;
    const fact = {
      seq,
      ts: new Date().toISOString(),
      id: crypto.randomUUID(),
      schemaVersion: 1,
      event: 'workflow.rule.fired',
      source: 'monitor',
      via: 'local',
      deliveryId: `rule:merged:${line.id}`,
      host: line.host,
      scope: line.scope,
      detail: {
        rule: 'merged',
        line: line.seq,
        lineId: line.id,
        at: line.ts,
        topic: line.event,
        run: 'note',
      },
    };
    appendFileSync(join(given.home, 'svc', 'events', file), `${JSON.stringify(fact)}\n`);

    const second = await daemonProcess(given);
    await until(() => given.lines('workflow.rule.command_ended').length === 1);
    await second.kill();
    const third = await daemonProcess(given);
    await deliver(third.url, 'ABC-9', 9);
    await until(() => given.lines('workflow.rule.command_ended').length === 2);
    await third.kill();
    expect(given.runs()).toEqual([
      'merged codehost.pr.merged ABC-0 #3 ',
      'merged codehost.pr.merged ABC-9 #9 ',
    ]);
    expect(given.lines('workflow.rule.fired')).toHaveLength(2);
  });
});

test('before it is switched on: a rule that is off, and one from a file', async () => {
  const given = setUp({ rules: [{ ...merged, enabled: false, when: { event: 'codehost.pr.*' } }] });
  const daemon = await start(given);
  await deliver(daemon.url, 'ABC-1', 7);
  await deliver(daemon.url, 'ABC-1', 8);
  await daemon.close();
  const off = await given.svc('rules', 'test', 'merged', '--since', '1d');
  expect(off.code).toBe(0);
  expect(off.out).toMatch(
    /^merged \(off; at most 1 in 10m for each ticket\)\n {2}\S+ \S+ UTC {2}event \d+ .* run note/,
  );
  expect(off.out).toContain('suppressed by the limit');
  expect(off.out).toMatch(
    /would have fired 1 times, suppressed by the limit 1 times\n\d+ events read, from .*Nothing was executed\./,
  );

  const file = join(given.home, 'rule.json');
  const tryFile = (rule: unknown) => {
    writeFileSync(file, JSON.stringify(rule));
    return given.svc('rules', 'test', '--file', file, '--since', '0');
  };
  const fresh = {
    ...merged,
    name: 'fresh',
    limit: { atMost: 9 },
    then: { notify: { message: '{repo}#{pr}' } },
  };
  const tested = await tryFile(fresh);
  expect(tested.out).toContain('notify (medium): acme/web#7');
  expect(tested.out).toContain('would have fired 2 times, suppressed by the limit 0 times');
  for (const [rule, why] of [
    [{ ...fresh, when: { event: 'codehost.pr.megred' } }, 'Did you mean codehost.pr.merged?'],
    [{ ...fresh, when: { event: '*', filter: '.event ==' } }, 'The jq filter is not valid'],
    [{ ...fresh, then: { run: 'nope' } }, 'svc.commands has no command nope'],
    [{ ...fresh, then: {} }, 'then: expected notify, attention or run'],
    [{ ...fresh, name: undefined }, 'rule.json: name is required.'],
  ] as const) {
    const refused = await tryFile(rule);
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining(why)]);
  }
  expect(await given.svc('rules', 'test', 'nobody')).toMatchObject({ code: 1 });
  expect(given.runs()).toEqual([]);
  const listed = await given.svc('rules', 'list');
  expect(listed.out).toMatch(/^off +merged +codehost\.pr\.\* +run note$/);
});

test('an invalid filter is a configuration problem, and the other rules continue', async () => {
  const given = setUp({
    rules: [
      { ...merged, name: 'broken', when: { event: '*', filter: '.event | startwith("x")' } },
      { ...merged, when: { event: 'codehost.pr.merged' } },
    ],
  });
  const validated = await given.svc('config', 'validate');
  expect(validated.code).toBe(1);
  expect(validated.out).toMatch(/rule broken: .*startwith\/1 is not defined.*svc rules test broken/);
  const daemon = await start(given);
  await until(() => isFollowing(daemon));
  expect((await daemon.get('/api/health')).body).toMatchObject({
    status: 'degraded',
    configuration: { problems: [{ text: expect.stringContaining('rule broken') }] },
    rules: { active: 1 },
  });
  await deliver(daemon.url, 'ABC-1', 7);
  await until(() => given.runs().length === 1);
});
