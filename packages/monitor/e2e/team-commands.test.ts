// What members of a team may do on another machine: asked by one, executed once by the other if its owner allows it.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StoredRecord } from '@svc/contract/relay/record';
import { storyRepo, storyTicket, until } from '@svc/testkit';
import { expect, test } from 'vitest';
import type { TeamCommandView } from '../src/features/team/api.ts';
import type { CommandValue, TeamCommand } from '../src/features/team/command.ts';
import { makeRecord } from '../src/features/team/io/records.ts';
import { nameHash, newMachineKeys } from '../src/features/team/io/seal.ts';
import type { TeamFile } from '../src/features/team/io/team-file.ts';
import { type RecordRefusal, recordRefusals } from '../src/features/team/roster.ts';
import { hookTokenFile } from '../src/kernel/access/token-file.ts';
import type { EventLine } from '../src/kernel/log/event-line.ts';
import { storyDaemon } from './story-daemon.ts';
import { type Machine, machine, putIntoServer, relayAt, teamOfTwo } from './team-world.ts';

const ITEM = 'run-one/ENG-1/stuck';

async function ask(by: Machine, command: TeamCommand, to = 'one', key?: string) {
  const { status, body } = await by
    .daemon()
    .post('/api/team/commands', JSON.stringify({ machine: to, command, ...(key !== undefined && { key }) }), {
      'content-type': 'application/json',
    });
  expect(status, JSON.stringify(body)).toBe(200);
  return body['command'] as TeamCommandView;
}

/** The file of the owner; the daemon reads it within a second. */
function allow(on: Machine, text: string): void {
  mkdirSync(join(on.home, '.config/svc'), { recursive: true });
  writeFileSync(join(on.home, '.config/svc/config.json'), text);
}

const linesOf = (on: Machine, event: string): EventLine[] =>
  on
    .daemon()
    .allLines()
    .filter((line) => line.event === event);

/** Without those that say that the person has it. */
const handOvers = (on: Machine): EventLine[] =>
  linesOf(on, 'comms.attention_handed_over').filter(({ detail }) => detail['received'] !== true);

const itemsOf = async (on: Machine) =>
  (await on.daemon().get('/api/attention')).body['open'] as {
    id: string;
    machine?: string;
    handedOver: { to: string; by: string } | null;
  }[];

async function withItem() {
  const world = await teamOfTwo();
  world.one.work('ENG-1', 'implementing');
  const fact = {
    event: 'comms.attention',
    scope: { orchestrator: 'run-one', ticket: 'ENG-1' },
    detail: { reason: 'stuck', message: 'A person is needed', severity: 'high' },
  };
  const json = { 'content-type': 'application/json' };
  expect((await world.one.daemon().post('/api/events', JSON.stringify(fact), json)).status).toBeLessThan(300);
  await until(async () => (await itemsOf(world.one)).length > 0);
  await until(async () => ((await world.two.rowOf('one'))?.attention.length ?? 0) > 0);
  return world;
}

test('only a hand-over is allowed by default; the person has it in the own list', async () => {
  const { one, two } = await withItem();
  expect((await itemsOf(one)).map(({ id }) => id)).toContain(ITEM);
  const done = await two.svc('attention', 'hand-over', ITEM, '--to', 'person-of-two', '--machine', 'one');
  expect(done).toMatchObject({ exit: 0, text: 'Done on one.' });
  expect(handOvers(one).map(({ detail }) => detail)).toEqual([
    expect.objectContaining({ to: 'person-of-two', by: 'person-of-two (two)' }),
  ]);
  await until(async () => (await itemsOf(two)).some(({ id, machine: of }) => id === ITEM && of === 'one'));
  expect((await two.svc('attention')).text).toMatch(
    /on one \(person-of-one\).*handed over to person-of-two by person-of-one \(one\)/,
  );
  expect((await one.svc('attention')).text).toContain('handed over to person-of-two');
  expect(await itemsOf(one)).toEqual([expect.not.objectContaining({ machine: 'one' })]);

  for (const words of [
    ['attention', 'ack', ITEM],
    ['agent', 'send', 'ENG-1', 'stop'],
    ['orchestrate', 'pause', 'run-one'],
    ['deploy', 'retry', 'ENG-1'],
  ]) {
    const refused = await two.svc(...words, '--machine', 'one');
    expect(refused.text, words.join(' ')).not.toContain('..');
    expect(refused, words.join(' ')).toMatchObject({
      exit: 1,
      text: expect.stringMatching(/one: refused\. Its owner does not allow[^]*svc\.team\.allow/),
    });
  }
  const answer = { verb: 'answer', subject: 'ENG-1', request: 'r', answer: 'allow_once' } as const;
  expect(await ask(two, answer)).toMatchObject({ state: 'refused' });
  expect(linesOf(one, 'comms.attention_acknowledged')).toEqual([]);
  expect(linesOf(one, 'orchestrator.run.paused')).toEqual([]);
  const commands = await two.svc('team', 'commands');
  expect(commands.text).toMatch(/to one .*acknowledge .*refused[^]*hand over .*done/);
  expect(commands.text).not.toContain('..');
  expect((await one.svc('team', 'commands')).text).toMatch(/from two \(person-of-two\).*hand over/);
  expect(await two.svc('attention', 'ack', ITEM, '--machine', 'two')).toMatchObject({ exit: 2 });
  expect(await two.svc('agent', 'answer', 'ENG-1', 'allow', '--machine', 'one')).toMatchObject({ exit: 1 });
});

test('the owner allows by person, machine or id, and an unreadable file allows nothing', async () => {
  const { one, two } = await withItem();
  const { id } = two.file().keys;
  for (const [name, verbs, isAllowed] of [
    ['person:nobody', ['acknowledge', 'hand-over'], false],
    ['person:person-of-two', ['acknowledge'], true],
    // A name alone could be that of anybody.
    ['person-of-two', ['acknowledge'], false],
    ['machine:two', ['acknowledge'], true],
    ['two', ['acknowledge'], false],
    [id, ['acknowledge'], true],
    [`machine:${id}`, ['acknowledge'], false],
    [`id:${id}`, ['acknowledge'], true],
    ['*', [], false],
  ] as const) {
    allow(one, JSON.stringify({ svc: { team: { allow: { [name]: verbs } } } }));
    await until(async () => {
      const { state } = await ask(two, { verb: 'acknowledge', item: ITEM });
      return (state === 'done') === isAllowed;
    });
  }
  const handOver = { verb: 'hand-over', item: ITEM, to: 'person-of-two' } as const;
  for (const broken of [
    '{ "svc": { "team": { "allow": ',
    '{"svc":{"team":{"allow":{"*":["everything"]}}}}',
  ]) {
    allow(one, '{"svc":{"team":{"allow":{"*":["hand-over"]}}}}');
    await until(async () => (await ask(two, handOver)).state === 'done');
    allow(one, broken);
    await until(async () => (await ask(two, handOver)).state === 'refused');
  }
  // What it cannot do is said, without a folder of that machine.
  allow(one, '{"svc":{"team":{"allow":{"*":["pause","send","answer","retry-deploy"]}}}}');
  await until(async () => (await ask(two, { verb: 'pause', run: 'nothing' })).state === 'failed');
  expect(await ask(two, { verb: 'pause', run: 'nothing' })).toMatchObject({
    why: 'There is no run named nothing.',
    remedy: expect.stringContaining('that machine'),
  });
  expect(await ask(two, { verb: 'pause', run: 'run-one' })).toMatchObject({ state: 'done' });
  expect(linesOf(one, 'orchestrator.run.paused').map(({ detail }) => detail['by'])).toEqual([
    'person-of-two (two)',
  ]);
  const send = { verb: 'send', ticket: 'ENG-1', text: 'use the other branch' } as const;
  for (const state of [await ask(two, send, 'one', 'k'), await ask(two, send, 'one', 'k')])
    expect(state).toMatchObject({ state: 'done' });
  const inbox = readFileSync(join(one.home, 'svc/runs/run-one/workers/inbox/ENG-1.jsonl'), 'utf8').trim();
  expect(JSON.parse(inbox)).toMatchObject({ text: send.text, by: 'person-of-two (two)' });
  for (const command of [
    { verb: 'retry-deploy', ticket: 'ENG-1' },
    { verb: 'answer', subject: 'ENG-1', request: 'r', answer: 'allow_once' },
    { verb: 'answer', subject: 'claude/1', request: 'r', answer: 'reject_once' },
  ] as const)
    expect(await ask(two, command), command.verb).toMatchObject({ state: 'failed' });
});

test('a deploy is retried and an agent is answered there, in the name of who asked', async () => {
  const { one, two } = await teamOfTwo();
  allow(one, '{"svc":{"team":{"allow":{"person:person-of-two":["answer","retry-deploy"]}}}}');
  await one.daemon().close();
  const deploy = { [storyRepo]: { skipDeployVerification: false } };
  const there = await storyDaemon({ home: one.home, settings: { deploy } });
  const shown = async (status: string): Promise<boolean> =>
    (await two.rowOf('one'))?.workers.some((worker) => worker.status === status) === true;
  const askedIn = (event: string) =>
    there
      .allLines()
      .filter((line) => line.event === event)
      .map(({ detail }) => detail);
  const by = 'person-of-two (two)';

  there.setStatus('pr-created');
  await until(() => shown('pr-created'));
  await there.happens('pull_request merged');
  await there.happens('deployment_status failure');
  await until(() => shown('deploy-failed'));
  expect(await two.svc('deploy', 'retry', storyTicket, '--note', 'fixed', '--machine', 'one')).toMatchObject({
    exit: 0,
    text: 'Done on one.',
  });
  expect(askedIn('orchestrator.deploy.retried')).toEqual([expect.objectContaining({ by, note: 'fixed' })]);
  await until(() => shown('merged'));

  writeFileSync(hookTokenFile(there.machine.dataDir), 'hook', { mode: 0o600 });
  const tool = { agent: 'claude', session: 's-1', tool: 'Bash', call: 'x' };
  const hook = async (path: string, body: object) =>
    (
      await there.post(`/api/hooks/${path}`, JSON.stringify({ ...tool, ...body }), {
        'content-type': 'application/json',
        'x-svc-hook-token': 'hook',
      })
    ).body;
  await hook('report', { event: 'PermissionRequest', folder: one.home, at: 1 });
  const answered = hook('ask', { input: '{"command":"secret-text"}' });
  await until(async () => (await two.rowOf('one'))?.sessions[0]?.open.length);
  const answer = await two.svc('agent', 'answer', 'claude/s-1', 'allow', '--machine', 'one');
  expect(answer).toMatchObject({ exit: 0, text: 'Done on one.' });
  expect(await answered).toEqual({ answer: 'allow_once' });
  expect(askedIn('session.answered')).toEqual([expect.objectContaining({ answer: 'allow_once', by })]);
  expect(askedIn('team.command.ended')).toEqual([
    expect.objectContaining({ state: 'done', by }),
    expect.objectContaining({ state: 'done', by }),
  ]);
});

test('the command that fixes an item that was handed over does so on its machine, run as it is printed', async () => {
  const { one, two } = await teamOfTwo();
  allow(one, '{"svc":{"team":{"allow":{"person:person-of-two":["answer","retry-deploy"]}}}}');
  await one.daemon().close();
  const deploy = { [storyRepo]: { skipDeployVerification: false } };
  const there = await storyDaemon({ home: one.home, settings: { deploy } });
  there.setStatus('pr-created');
  await there.happens('pull_request merged');
  await there.happens('deployment_status failure');
  writeFileSync(hookTokenFile(there.machine.dataDir), 'hook', { mode: 0o600 });
  const tool = { agent: 'claude', session: 's-1', tool: 'Bash', call: 'x' };
  const json = { 'content-type': 'application/json' };
  const hook = (path: string, body: object) =>
    there.post(`/api/hooks/${path}`, JSON.stringify({ ...tool, ...body }), {
      ...json,
      'x-svc-hook-token': 'hook',
    });
  await hook('report', { event: 'PermissionRequest', folder: one.home, at: 1 });
  const answered = hook('ask', { input: '{"command":"secret-text"}' });

  const ids = [`run-1/${storyTicket}/deploy-failed`, '-/claude/s-1/agent-needs-permission'];
  const handOver = (id: string) =>
    there.post('/api/attention/hand-over', JSON.stringify({ id, to: 'person-of-two', by: 'one' }), json);
  for (const id of ids) await until(async () => (await handOver(id)).status === 200);
  const printed = async (): Promise<string[]> =>
    [
      ...(await two.svc('attention')).text.matchAll(
        /^ +one suggests, not checked here: svc (.+?)(?: \(or reject\))?$/gm,
      ),
    ].map(([, command = '']) => command);
  await until(async () => (await printed()).length === ids.length);
  expect((await printed()).toSorted()).toEqual([
    'agent answer claude/s-1 allow --machine one',
    `deploy retry ${storyTicket} --machine one`,
  ]);
  expect(JSON.stringify(two.daemon().allLines())).not.toContain(one.home);
  expect((await two.svc('board', '--team')).text).toContain(
    'Answer: svc agent answer claude/s-1 allow --machine one (or reject)',
  );
  for (const command of await printed())
    expect(await two.svc(...command.split(' ')), command).toMatchObject({ exit: 0, text: 'Done on one.' });
  expect((await answered).body).toEqual({ answer: 'allow_once' });
  const by = 'person-of-two (two)';
  const askedIn = there.allLines().filter(({ detail }) => detail['by'] === by);
  expect(askedIn.map(({ event }) => event)).toEqual(
    expect.arrayContaining(['orchestrator.deploy.retried', 'session.answered']),
  );
});

test('a command waits for its machine, and is executed once although both are stopped', async () => {
  const { nats, relay, one, two } = await withItem();
  await one.daemon().close();
  const handOver = { verb: 'hand-over', item: ITEM, to: 'person-of-two' } as const;
  const [sent] = await Promise.all([ask(two, handOver, 'one', 'k-1'), ask(two, handOver, 'one', 'k-1')]);
  expect(sent).toMatchObject({ state: 'open', id: 'k-1' });
  await two.daemon().close();
  await one.restart();
  await until(async () => linesOf(one, 'team.command.ended').length === 1);
  await one.daemon().close();
  await relay.stop();
  await two.restart();
  await one.restart();
  await relayAt(nats.url, relay.port);
  const stateOf = async (on: Machine) =>
    ((await on.daemon().get('/api/team/commands')).body['commands'] as TeamCommandView[]).map(
      ({ state }) => state,
    );
  await until(async () => (await stateOf(two)).join() === 'done');
  await until(async () => linesOf(one, 'team.command.closed').length === 1);
  expect(await ask(two, handOver, 'one', 'k-1')).toMatchObject({ state: 'done' });
  expect(handOvers(one).length).toBe(1);
  expect(linesOf(one, 'team.command.received').length).toBe(1);
  expect(linesOf(two, 'team.command.sent').length).toBe(1);
  expect(linesOf(two, 'team.command.ended').length).toBe(1);
});

test('forged, moved, replayed, old and foreign commands are not executed', async () => {
  const { nats, one, two } = await withItem();
  const three = await machine('three');
  const { invitation } = JSON.parse((await one.svc('team', 'invite', '--json')).text) as {
    invitation: string;
  };
  expect((await three.svc('team', 'join', invitation, '--machine-name', 'three')).exit).toBe(0);
  const removed = three.file();
  const file = two.file();
  const self = file.admin;
  const put = (record: StoredRecord): Promise<void> => putIntoServer(nats.port, file, record);
  const began = Date.now();
  const iso = (hours: number): string => new Date(began + hours * 3_600_000).toISOString();
  const command = { verb: 'hand-over', item: ITEM, to: 'person-of-two' } as const;
  const record = async (
    by: TeamFile,
    key: string,
    more: Partial<CommandValue> = {},
  ): Promise<StoredRecord> => {
    const value = { to: self, at: iso(0), expiresAt: iso(24), command, ...more };
    const hash = await nameHash(by.roster?.names ?? '', 'command', key);
    return makeRecord(by, { kind: 'command', hash }, Date.now(), { key, value });
  };
  const stranger = { ...file, keys: { ...(await newMachineKeys()) } as TeamFile['keys'] };

  // A member answers what was asked of another one.
  await two.daemon().close();
  const asked = ask(one, { ...command, item: 'x/y/z' }, 'two', 'asked');
  await until(() => linesOf(one, 'team.command.sent').length === 1);
  const result = { key: `${self}/asked`, value: { state: 'done', why: null, remedy: null } };
  const hash = await nameHash(removed.roster?.names ?? '', 'result', result.key);
  await put(await makeRecord(removed, { kind: 'result', hash }, Date.now(), result));
  await until(async () => (await one.refusals('not-asked')) > 0);
  expect((await one.daemon().get('/api/team/commands')).body['commands']).toEqual([
    expect.objectContaining({ id: 'asked', state: 'open' }),
  ]);
  await two.restart();
  await until(async () => linesOf(one, 'team.command.ended').length === 1);
  expect(linesOf(one, 'team.command.ended')[0]?.detail).toMatchObject({ command: 'asked', state: 'failed' });
  await asked;

  expect((await one.svc('team', 'remove', 'three')).exit).toBe(0);
  await until(async () => two.file().teamKeys.length === 2);
  const now = two.file();
  // Its daemon would remove what it did not publish itself.
  await two.daemon().close();

  // A new roster may explain it, so it is held for some seconds.
  await put(await record(stranger, 'stranger'));
  const attacks: [name: string, reason: RecordRefusal, record: () => Promise<StoredRecord>][] = [
    [
      'with a forged signature',
      'bad-signature',
      async () => ({ ...(await record(now, 'forged')), signature: 'A'.repeat(86) }),
    ],
    // Not the first: what the stream that is opened after a removal finds of the removed machine is not reported.
    ['of a removed member', 'removed-machine', () => record(removed, 'removed')],
    [
      'moved below the id of another machine',
      'bad-signature',
      async () => {
        const made = await record(now, 'moved');
        return { ...made, path: made.path.replace(now.keys.id, self) };
      },
    ],
    [
      'with a verb that does not exist',
      'wrong-value',
      () => record(now, 'verb', { command: { verb: 'erase' } as never }),
    ],
    ['valid for longer than a day', 'wrong-value', () => record(now, 'long', { expiresAt: iso(48) })],
  ];
  const before = handOvers(one).length;
  for (const [name, reason, made] of attacks) {
    const earlier = await one.refusals(reason);
    await put(await made());
    await until(async () => (await one.refusals(reason)) > earlier).catch((error: unknown) => {
      throw new Error(`not refused: ${name}`, { cause: error });
    });
    expect((await one.health()).why, name).toContain(recordRefusals[reason]);
  }
  one.skipTime(5_000);
  expect((await one.health()).why).toContain(recordRefusals['unknown-machine']);

  // To another machine, and from hours ago: nothing is executed, and the second comes back with a reason.
  await put(await record(now, 'elsewhere', { to: removed.keys.id }));
  await put(await record(now, 'late', { at: iso(-30), expiresAt: iso(-6) }));
  await put(await record(now, 'future', { at: iso(10), expiresAt: iso(34) }));
  await until(async () => linesOf(one, 'team.command.ended').length === 3);
  expect(
    linesOf(one, 'team.command.ended').map(({ detail }) => [detail['command'], detail['state']]),
  ).toEqual([
    ['asked', 'failed'],
    ['late', 'expired'],
    ['future', 'refused'],
  ]);
  expect(handOvers(one).length).toBe(before);

  // The same command again and again, with higher and lower versions, also after a restart.
  const good = await record(now, 'good');
  await put(good);
  await until(async () => handOvers(one).length === before + 1);
  for (let times = 0; times < 3; times += 1) await put(await record(now, 'good'));
  await put(good);
  await one.daemon().close();
  await one.restart();
  await put(good);
  await put(await record(now, 'good'));
  await put(await record(now, 'last'));
  await until(async () => handOvers(one).length === before + 2);
  expect(linesOf(one, 'team.command.received').map(({ detail }) => detail['command'])).toEqual([
    'late',
    'future',
    'good',
    'last',
  ]);
});
