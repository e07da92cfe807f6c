// Two machines and a relay that shows any record that it ever had, in any order; both machines are killed at any point
// between two durable lines. Every command is executed once, and its result comes back.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { emptyBoard, foldLine } from '../features/board.ts';
import { COMMAND_MS, type CommandAllowances, type TeamCommand } from '../features/team/command.ts';
import { commandLines } from '../features/team/io/commands.ts';
import type { TeamFile } from '../features/team/io/team-file.ts';
import { type PublishedThing, publishedThings } from '../features/team/shared-things.ts';
import type { Board } from '../kernel/board/board.ts';
import type { EventDraft, EventLine } from '../kernel/log/event-line.ts';
import type { Effect } from '../kernel/outbox/effect.ts';
import { createTeamCommands } from './team-commands.ts';

class Killed extends Error {}

const AT = Date.parse('2026-01-02T09:00:00.000Z');
const members = ['a', 'b'].map((id) => ({
  id: id.repeat(22),
  machine: `machine-${id}`,
  person: `person-${id}`,
  role: id === 'a' ? ('admin' as const) : ('member' as const),
}));
const [A, B] = [members[0]?.id ?? '', members[1]?.id ?? ''];
const ITEM = 'run-1/ABC-1/stuck';

/** A machine whose log survives, and whose memory does not. */
function machine(self: string, allow: () => CommandAllowances, now: () => number) {
  const lines: EventLine[] = [];
  const keys = new Set<string>();
  let board = emptyBoard();
  let pending: Effect[] = [];
  let accepted = 0;
  /** Lines until it is killed. */
  let fuse = Number.POSITIVE_INFINITY;

  /** As the follower does: effects of a line are accepted once. */
  function fold(): void {
    for (const line of lines.slice(board.seq)) {
      const effects = foldLine(board, line);
      if (line.seq <= accepted) continue;
      accepted = line.seq;
      pending.push(...effects);
    }
  }

  async function appendOnce(draft: EventDraft) {
    const key = `${draft.source}:${draft.deliveryId}`;
    const known = lines.find((line) => `${line.source}:${line.deliveryId}` === key);
    if (draft.deliveryId !== undefined && known !== undefined)
      return { duplicate: true as const, id: known.id, seq: known.seq };
    if (fuse <= 0) throw new Killed();
    fuse -= 1;
    const seq = lines.length + 1;
    const line = { ...draft, seq, ts: new Date(AT + seq).toISOString(), id: String(seq) } as EventLine;
    lines.push(line);
    keys.add(key);
    fold();
    if (fuse <= 0) throw new Killed();
    return { duplicate: false as const, id: line.id, seq, line };
  }

  const handle = createTeamCommands({
    state: {
      board: () => board,
      reached: async () => undefined,
      progress: () => ({ ready: true, seq: board.seq, logSeq: board.seq }),
    },
    log: { ready: Promise.resolve(), appendOnce, hasDelivery: (source, id) => keys.has(`${source}:${id}`) },
    orchestration: { agents: undefined, orchestrator: undefined } as never,
    sessions: () => undefined as never,
    teamAllow: allow,
    now,
  });
  const file = { keys: { id: self }, roster: { members } } as unknown as TeamFile;

  return {
    lines,
    board: () => board,
    append: appendOnce,
    publish: (): PublishedThing[] =>
      publishedThings(board, { titles: false }).filter(({ kind }) => kind === 'command' || kind === 'result'),
    async receive(from: string, { kind, key, value }: Shown): Promise<void> {
      const opened = { machine: from, kind, key, version: 1, epoch: 1, value };
      const made = commandLines(board, file, opened);
      if (!('refused' in made)) for (const draft of made) await appendOnce(draft);
    },
    /** Everything that waits; a failed one waits again. */
    async work(): Promise<void> {
      for (const effect of pending) {
        if (effect.kind === 'team-command') await handle(effect);
        pending = pending.filter((one) => one !== effect);
      }
    },
    async killedWithin(count: number, work: () => Promise<void>): Promise<void> {
      fuse = count;
      await work().catch((error: unknown) => {
        if (!(error instanceof Killed)) throw error;
      });
      fuse = Number.POSITIVE_INFINITY;
    },
    restart(): void {
      board = emptyBoard();
      fold();
    },
  };
}

type Shown = { kind: 'command' | 'result'; key: string; value: unknown };
type Machine = ReturnType<typeof machine>;

async function world(allow: CommandAllowances) {
  const clock = { now: AT };
  const one = machine(
    A,
    () => ({}),
    () => clock.now,
  );
  const two = machine(
    B,
    () => allow,
    () => clock.now,
  );
  const roster = { event: 'team.roster.changed', source: 'monitor', via: 'local', scope: {} } as const;
  for (const each of [one, two]) await each.append({ ...roster, detail: { machines: members } });
  const scope = { orchestrator: 'run-1', ticket: 'ABC-1' };
  await two.append({
    ...roster,
    event: 'comms.attention',
    scope,
    detail: { reason: 'stuck', message: 'x', severity: 'high' },
  });
  /** Everything that was ever stored, and the newest of each path. */
  const ever: { by: Machine; shown: Shown }[] = [];
  const newest = new Map<string, { by: Machine; shown: Shown }>();
  const store = (by: Machine, shown: Shown): void => {
    ever.push({ by, shown });
    newest.set(`${shown.kind} ${shown.key}`, { by, shown });
  };
  /** The publisher: what is wanted, and what is gone. */
  const publish = (by: Machine): void => {
    const wanted = new Map(by.publish().map((thing) => [`${thing.kind} ${thing.key}`, thing]));
    for (const { kind, key, value } of wanted.values()) store(by, { kind, key, value } as Shown);
    for (const [path, known] of newest)
      if (known.by === by && known.shown.value !== null && !wanted.has(path))
        store(by, { ...known.shown, value: null });
  };
  const show = ({ by, shown }: { by: Machine; shown: Shown }): Promise<void> =>
    by === one ? two.receive(A, shown) : one.receive(B, shown);
  const sync = async (): Promise<void> => {
    for (let round = 0; round < 4; round += 1) {
      for (const by of [one, two]) publish(by);
      for (const each of newest.values()) await show(each);
      await two.work();
    }
  };
  const send = async (id: string, command: TeamCommand, expiresAt = AT + COMMAND_MS): Promise<void> => {
    const detail = {
      command: id,
      from: A,
      to: B,
      request: command,
      expiresAt: new Date(expiresAt).toISOString(),
    };
    const deliveryId = `team-command-sent:${A}/${id}`;
    await one.append({
      event: 'team.command.sent',
      source: 'monitor',
      via: 'local',
      scope: {},
      detail,
      deliveryId,
    });
  };
  return { clock, one, two, ever, publish, show, sync, send };
}

const count = ({ lines }: Machine, event: string): number =>
  lines.filter((line) => line.event === event).length;
const states = (board: Board) => [...board.commands.values()].map(({ state }) => state);

test('executed once, whatever is shown, repeated or killed', async () => {
  const steps = fc.array(
    fc.record({
      what: fc.constantFrom('send', 'publish', 'publish', 'show', 'show', 'show', 'work', 'work', 'restart'),
      machine: fc.boolean(),
      which: fc.nat({ max: 30 }),
      fuse: fc.constantFrom(0, 1, 2, 100),
    }),
    // Long enough that commands are received, executed and killed half-way.
    { minLength: 30, maxLength: 80, size: 'max' },
  );
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const { one, two, ever, publish, show, sync, send } = await world({ '*': ['hand-over'] });
      let sent = 0;
      for (const { what, machine: isOne, which, fuse } of all) {
        const of = isOne ? one : two;
        const old = ever[which % Math.max(1, ever.length)];
        if (what === 'send') {
          sent += 1;
          await send(`c-${sent}`, { verb: 'hand-over', item: ITEM, to: 'person-a', note: `${sent}` });
        } else if (what === 'publish') publish(of);
        else if (what === 'restart') of.restart();
        else if (what === 'work') await two.killedWithin(fuse, () => two.work());
        else if (old !== undefined) await (old.by === one ? two : one).killedWithin(fuse, () => show(old));
      }
      await sync();
      expect(count(two, 'comms.attention_handed_over')).toBe(sent);
      expect(count(two, 'team.command.ended')).toBe(sent);
      expect(count(one, 'team.command.ended')).toBe(sent);
      expect(states(one.board())).toEqual(Array.from({ length: sent }, () => 'done'));
      // Nothing is left at the relay, and old records change nothing.
      expect([...one.publish(), ...two.publish()]).toEqual([]);
      for (const each of ever) await show(each);
      await two.work();
      expect(count(two, 'comms.attention_handed_over')).toBe(sent);
    }),
    { numRuns: 150 },
  );
});

test.each<[name: string, command: TeamCommand, allow: CommandAllowances, later: number, state: string]>([
  ['not allowed', { verb: 'acknowledge', item: ITEM }, { '*': ['hand-over'] }, 0, 'refused'],
  ['allowed to somebody else', { verb: 'acknowledge', item: ITEM }, { kim: ['acknowledge'] }, 0, 'refused'],
  [
    'allowed to the person',
    { verb: 'acknowledge', item: ITEM },
    { 'person:person-a': ['acknowledge'] },
    0,
    'done',
  ],
  ['an unreadable configuration', { verb: 'hand-over', item: ITEM, to: 'person-a' }, {}, 0, 'refused'],
  [
    'too late',
    { verb: 'hand-over', item: ITEM, to: 'person-a' },
    { '*': ['hand-over'] },
    COMMAND_MS + 1,
    'expired',
  ],
  ['no such item', { verb: 'hand-over', item: 'x/y/z', to: 'person-a' }, { '*': ['hand-over'] }, 0, 'failed'],
])('%s: %j', async (_name, command, allow, later, state) => {
  const { clock, one, two, sync, send } = await world(allow);
  await send('c', command);
  clock.now += later;
  await sync();
  expect(states(one.board())).toEqual([state]);
  const [entry] = one.board().commands.values();
  if (state !== 'done') expect(entry).toMatchObject({ why: expect.any(String), remedy: expect.any(String) });
  const executed = count(two, 'comms.attention_acknowledged') + count(two, 'comms.attention_handed_over');
  expect(executed).toBe(state === 'done' ? 1 : 0);
  expect(two.lines.findLast((line) => line.event === 'team.command.ended')?.detail['by']).toBe(
    'person-a (machine-a)',
  );
});
