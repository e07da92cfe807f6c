// What every provider promises: each row runs against every provider's fake. For each row and provider
// docs/mutations/rows/contract.txt breaks the provider's code, which the row has to notice. A new provider is one folder,
// its world (testing/worlds.ts) and its mutations.
import { describe, expect, test } from 'vitest';
import { askDependencies } from './io/ask-dependencies.ts';
import { createTicketMover } from './io/move-ticket.ts';
import { type Tracker, TrackerError } from './io/tracker.ts';
import { type World, worlds } from './testing/worlds.ts';
import { trackerOf } from './tracker-of.ts';

type Row = {
  promise: string;
  check: (tracker: Tracker, world: World) => Promise<void>;
};

const teamOf = ({ config }: World): string => {
  const chosen = trackerOf(config);
  return (chosen.provider && chosen.teamId) ?? '';
};
const statesOf = async (tracker: Tracker, world: World) =>
  ((await tracker.teamStates(teamOf(world)))?.states ?? []).toSorted(
    (one, other) => one.position - other.position,
  );
const idsOf = async (tracker: Tracker, world: World) => {
  const states = await statesOf(tracker, world);
  return (name: string) => states.find((state) => state.name === name)?.id ?? `no state ${name}`;
};
const problemOf = async (work: Promise<unknown>): Promise<TrackerError> => {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(TrackerError);
  return error as TrackerError;
};
const LONG_AGO = '2026-01-01T00:00:00.000Z';
const hostile = 'A "title" `$(touch x)` {{y}} \\ é 漢';

const rows: Row[] = [
  {
    promise: 'a ticket has the text that was written, whatever it contains',
    async check(tracker, { addTicket }) {
      const ticket = addTicket({ title: hostile, text: `line\n${hostile}` });
      expect(await tracker.issueText(ticket)).toMatchObject({ title: hostile, body: `line\n${hostile}` });
    },
  },
  {
    promise: 'a ticket that does not exist is undefined, not an error and not another one',
    async check(tracker, { addTicket }) {
      const [prefix] = addTicket({ title: 'one' }).split('-');
      for (const name of [`${prefix}-999`, 'NOPE-1']) {
        await expect(tracker.issueState(name)).resolves.toBeUndefined();
        await expect(tracker.issueText(name)).resolves.toBeUndefined();
      }
    },
  },
  {
    promise: 'the team is found by its id, with its states in order; another is undefined',
    async check(tracker, world) {
      const names = (await statesOf(tracker, world)).map(({ name }) => name);
      expect(names).toEqual(expect.arrayContaining([...world.openStates, 'Done', 'Canceled']));
      expect(names.indexOf('Done')).toBeGreaterThan(names.indexOf(world.openStates[0] ?? ''));
      expect(await tracker.teamStates('NOPE')).toBeUndefined();
      expect(await tracker.listTeams()).toHaveLength(1);
    },
  },
  {
    promise: 'the types of states tell what is over',
    async check(tracker, world) {
      const types = Object.fromEntries(
        (await statesOf(tracker, world)).map(({ name, type }) => [name, type]),
      );
      expect(types).toMatchObject({ Done: 'completed', Canceled: 'canceled' });
      for (const name of world.openStates) expect(['completed', 'canceled']).not.toContain(types[name]);
    },
  },
  {
    promise: 'a ticket is moved from any state to any other, and then it is there',
    async check(tracker, world) {
      const ticket = world.addTicket({ title: 'walk' });
      const open = world.openStates.slice(-2);
      const way = [...open, 'Done', ...open.toReversed(), 'Canceled'];
      const idOf = await idsOf(tracker, world);
      await tracker.issueState(ticket);
      for (const name of way) {
        const id = idOf(name);
        await tracker.setIssueState(ticket, id);
        const now = await tracker.issueState(ticket);
        expect(now?.state.id, name).toBe(id);
        expect(world.isClosed(ticket), name).toBe(name === 'Done' || name === 'Canceled');
      }
    },
  },
  {
    promise: 'what a person put on a ticket stays when it is moved',
    async check(tracker, world) {
      const ticket = world.addTicket({ title: 'labelled' });
      await tracker.issueState(ticket);
      world.byHand(ticket, { label: 'urgent' });
      const idOf = await idsOf(tracker, world);
      for (const name of [world.openStates[0] ?? '', 'Done']) await tracker.setIssueState(ticket, idOf(name));
      expect(world.labelsOf(ticket)).toContain('urgent');
      expect((await tracker.issueText(ticket))?.title).toBe('labelled');
    },
  },
  {
    promise: 'a ticket that was left between two states is moved to one',
    async check(tracker, world) {
      const ticket = world.addTicket({ title: 'left' });
      const states = world.openStates.slice(0, 2);
      for (const state of states) world.byHand(ticket, { state });
      const mover = createTicketMover({ configs: () => [world.config], open: () => tracker });
      await mover.move(ticket, 'inProgress');
      expect(world.labelsOf(ticket).filter((label) => states.includes(label)).length).toBeLessThan(2);
      await mover.move(ticket, 'done');
      expect(world.isClosed(ticket)).toBe(true);
    },
  },
  {
    promise: 'an id of another tracker is not found, so the state is looked up by its name',
    async check(tracker, world) {
      const ticket = world.addTicket({ title: 'x' });
      const strange = '8f2b4c1e-0000-4000-8000-00000000abcd';
      expect((await problemOf(tracker.setIssueState(ticket, strange))).problem.kind).toBe('not-found');
      const mover = createTicketMover({
        configs: () => [withStateIds(world, { Done: strange })],
        open: () => tracker,
      });
      expect(await mover.move(ticket, 'done')).toMatchObject({ outcome: 'moved', to: 'Done' });
      expect(world.isClosed(ticket)).toBe(true);
    },
  },
  {
    promise: 'a ticket that is already there is not moved again',
    async check(tracker, world) {
      const ticket = world.addTicket({ title: 'x' });
      const mover = createTicketMover({ configs: () => [world.config], open: () => tracker });
      expect(await mover.move(ticket, 'done')).toMatchObject({ outcome: 'moved', to: 'Done' });
      expect(await mover.move(ticket, 'done')).toMatchObject({ outcome: 'already' });
    },
  },
  {
    promise: 'what a person ends is over: done or canceled',
    async check(tracker, world) {
      const [one, two] = [world.addTicket({ title: 'one' }), world.addTicket({ title: 'two' })];
      world.byHand(one, { state: 'Done' });
      world.byHand(two, { state: 'Canceled' });
      expect((await tracker.issueState(one))?.state.type).toBe('completed');
      expect((await tracker.issueState(two))?.state.type).toBe('canceled');
    },
  },
  {
    promise: 'what changed since a time is listed oldest first, and nothing older',
    async check(tracker, world) {
      const old = world.addTicket({ title: 'old', updatedAt: '2026-02-01T00:00:00.000Z' });
      const second = world.addTicket({ title: 'second', updatedAt: '2026-04-02T00:00:00.000Z' });
      const first = world.addTicket({ title: 'first', updatedAt: '2026-04-01T00:00:00.000Z' });
      const { issues } = await tracker.issuesUpdatedSince(teamOf(world), '2026-03-01T00:00:00.000Z');
      const names = issues.map(({ identifier }) => identifier);
      expect(names.filter((name) => name === first || name === second)).toEqual([first, second]);
      expect(names).not.toContain(old);
    },
  },
  {
    promise: 'the next look continues where the last ended, and misses nothing',
    async check(tracker, world) {
      world.addTicket({ title: 'one' });
      const { cursor } = await tracker.issuesUpdatedSince(teamOf(world), LONG_AGO);
      expect(Date.parse(cursor)).toBeGreaterThan(Date.parse(LONG_AGO));
      const later = world.addTicket({ title: 'two', updatedAt: new Date(Date.now() + 60_000).toISOString() });
      const { issues, cursor: next } = await tracker.issuesUpdatedSince(teamOf(world), cursor);
      expect(issues.map(({ identifier }) => identifier)).toContain(later);
      expect(Date.parse(next)).toBeGreaterThan(Date.parse(cursor));
    },
  },
  {
    promise: 'a listed ticket has its title, address, labels and state',
    async check(tracker, world) {
      const ticket = world.addTicket({ title: 'shown' });
      world.byHand(ticket, { label: 'urgent', state: 'Done' });
      const { issues } = await tracker.issuesUpdatedSince(teamOf(world), LONG_AGO);
      const issue = issues.find(({ identifier }) => identifier === ticket);
      expect(issue).toMatchObject({ title: 'shown', state: { name: 'Done', type: 'completed' } });
      expect(issue?.url).toMatch(/^https:/);
      expect(issue?.labels?.nodes.map(({ name }) => name)).toContain('urgent');
    },
  },
  {
    promise: 'what blocks a ticket is known, and whether it is over',
    async check(tracker, world) {
      const [one, two, three] = ['one', 'two', 'three'].map((title) => world.addTicket({ title }));
      if (one === undefined || two === undefined || three === undefined) throw new Error('no tickets');
      world.block(two, one);
      world.block(two, three);
      expect(await askDependencies(tracker, [one, two])).toMatchObject({
        tickets: [
          { ticket: one, blockedBy: [] },
          { ticket: two, blockedBy: [one] },
        ],
        outside: [{ ticket: two, blocker: three }],
      });
      world.byHand(three, { state: 'Done' });
      expect((await askDependencies(tracker, [one, two])).outside).toEqual([]);
    },
  },
  {
    promise: 'a filed ticket can be read, and is found again by its key',
    async check(tracker, world) {
      const key = '6f1c2b7e-1111-4222-8333-444455556666';
      await tracker.filing.prepare(['auto-submitted']);
      const filed = await tracker.filing.create({
        key,
        title: 'Filed',
        text: `words\n${key}`,
        labels: ['auto-submitted'],
        severity: 'high',
      });
      expect((await tracker.issueText(filed.filedAs))?.title).toBe('Filed');
      expect(await tracker.filing.find(key, Date.now() - 60_000)).toEqual(filed);
      expect(world.labelsOf(filed.filedAs)).toEqual(['auto-submitted']);
      expect(tracker.filing.name).toBe('tracker');
    },
  },
  {
    promise: 'a failure has its kind, a fix, and no secret',
    async check(tracker, world) {
      const ticket = world.addTicket({ title: 'x' });
      const kinds = {
        unauthorised: 'unauthorised',
        'rate-limited': 'rate-limited',
        'server-error': 'unavailable',
        garbage: 'malformed',
      } as const;
      for (const fault of ['garbage', 'server-error', 'unauthorised', 'rate-limited'] as const) {
        world.fail(fault);
        const error = await problemOf(tracker.issueState(ticket));
        expect(error.problem.kind).toBe(kinds[fault]);
        expect(error.remedy).toMatch(/\S/);
        expect(JSON.stringify([error.message, error.remedy, error.problem])).not.toContain(world.secret);
        if (error.problem.kind === 'rate-limited') expect(error.problem.retryAfterMs).toBeGreaterThan(0);
      }
    },
  },
  {
    promise: 'every request is counted',
    async check(tracker, world) {
      const ticket = world.addTicket({ title: 'x' });
      const before = tracker.calls();
      await tracker.issueText(ticket);
      await tracker.issueState(ticket);
      expect(tracker.calls() - before).toBe(2);
    },
  },
  {
    promise: 'the text of a ticket has labels, address, state and comments, oldest first',
    async check(tracker, world) {
      const ticket = world.addTicket({ title: 'one' });
      world.byHand(ticket, { label: 'urgent' });
      world.comment(ticket, hostile, 'sam');
      world.comment(ticket, 'mine', 'self');
      const text = await tracker.issueText(ticket);
      expect(text?.labels).toContain('urgent');
      expect(text?.url).toMatch(/^https:/);
      expect(text?.state).toMatch(/\S/);
      expect(text?.comments).toMatchObject([
        { author: 'sam', by: 'person', text: hostile },
        { by: 'self', text: 'mine' },
      ]);
      expect(text?.commentCount).toBe(2);
      const [one, two] = text?.comments ?? [];
      expect(Date.parse(two?.at ?? '')).toBeGreaterThan(Date.parse(one?.at ?? ''));
    },
  },
  {
    promise: 'of 500 comments the newest 200 are read, and that there are more is known',
    async check(tracker, world) {
      const ticket = world.addTicket({ title: 'long' });
      for (let number = 1; number <= 500; number += 1) world.comment(ticket, `words ${number}`, 'sam');
      const before = tracker.calls();
      const text = await tracker.issueText(ticket);
      expect(tracker.calls() - before).toBe(2);
      expect(text?.comments).toHaveLength(200);
      expect(text?.comments[0]?.text).toBe('words 301');
      expect(text?.comments.at(-1)?.text).toBe('words 500');
      expect([500, null]).toContain(text?.commentCount);
    },
  },
];

function withStateIds({ config }: World, stateIds: Record<string, string>): World['config'] {
  return { ...config, svc: { ...config.svc, tracker: { ...config.svc.tracker, stateIds } } };
}

describe.each(worlds)('%s', (_, open) => {
  test.each(rows.map((row) => [row.promise, row] as const))('%s', async (_name, { check }) => {
    expect.hasAssertions();
    const world = await open();
    await check(world.tracker, world);
  });
});
