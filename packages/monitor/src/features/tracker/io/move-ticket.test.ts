import { testTracker } from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import { meansOf, TOKEN } from '../testing/client-of.ts';
import { projectConfig } from '../testing/project-config.ts';
import { stateIdsOf } from '../ticket-phase.ts';
import { type TicketPhase, ticketPhases } from '../ticket-phases.ts';
import { createTicketMover, TicketNotMoved } from './move-ticket.ts';
import { openTracker } from './open-tracker.ts';

/** A team ABC with one ticket in Backlog, and a mover for its project. */
async function world(
  given: { cached?: boolean; tracker?: Record<string, unknown>; token?: string | null } = {},
) {
  const tracker = await testTracker(TOKEN);
  const team = tracker.cloud.addTeam({ key: 'ABC' });
  tracker.cloud.addIssue({ teamId: team.id, title: 'Log in' });
  const stateIds = stateIdsOf(tracker.cloud.statesOf(team.id));
  const config = projectConfig(
    { teamKey: 'ABC', ...(given.cached && { teamId: team.id, stateIds }), ...given.tracker },
    given.token === undefined ? {} : { token: given.token },
  );
  const mover = createTicketMover({
    configs: () => [config],
    open: (chosen) => openTracker(chosen, meansOf(tracker)),
  });
  const stateOf = (ticket: string) => {
    const { stateId } = tracker.cloud.issueOf(ticket);
    return tracker.cloud.states.find(({ id }) => id === stateId)?.name;
  };
  return { tracker, team, mover, stateIds, stateOf };
}

const refusalOf = async (work: Promise<unknown>): Promise<TicketNotMoved> => {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(TicketNotMoved);
  return error as TicketNotMoved;
};

describe.each([true, false])('moving a ticket, ids cached: %s', (cached) => {
  test('to the state of the phase; if it is already there, a no-op', async () => {
    const { mover, stateOf, stateIds, tracker } = await world({ cached });
    expect(await mover.move('ABC-1', 'inReview')).toEqual({
      outcome: 'moved',
      from: 'Backlog',
      to: 'In Review',
      stateId: stateIds['In Review'],
      why: 'its phase is inReview',
      remedy: null,
    });
    expect(stateOf('ABC-1')).toBe('In Review');
    tracker.forgetCalls();
    expect(await mover.move('ABC-1', 'inReview')).toMatchObject({ outcome: 'already', from: 'In Review' });
    expect(tracker.calls()).toEqual(['issue']);
  });

  test.each(ticketPhases)('to the state of the phase %s, from any state', async (phase) => {
    const { mover, tracker, team, stateOf } = await world({
      cached,
      tracker: { stateMap: { [phase]: 'Todo' } },
    });
    for (const { id, name } of tracker.cloud.statesOf(team.id).filter((state) => state.name !== 'Todo')) {
      tracker.cloud.changeIssue('ABC-1', { stateId: id });
      expect(await mover.move('ABC-1', phase)).toMatchObject({ outcome: 'moved', from: name, to: 'Todo' });
      expect(stateOf('ABC-1')).toBe('Todo');
    }
  });

  test('two phases of one state: the second moves nothing', async () => {
    const { mover } = await world({ cached });
    expect(await mover.move('ABC-1', 'research')).toMatchObject({ outcome: 'moved', to: 'In Progress' });
    expect(await mover.move('ABC-1', 'planning')).toMatchObject({ outcome: 'already' });
  });

  test('null in the stateMap skips with a reason, and the tracker is not asked', async () => {
    const { mover, tracker } = await world({ cached, tracker: { stateMap: { done: null } } });
    expect(await mover.move('ABC-1', 'done')).toMatchObject({
      outcome: 'skipped',
      why: expect.stringContaining('svc.tracker.stateMap.done is null'),
      remedy: null,
    });
    expect(tracker.calls()).toEqual([]);
  });

  test('a state that the tracker does not have is reported, with the existing ones and the remedy', async () => {
    const { mover } = await world({ cached, tracker: { stateMap: { inReview: 'In Reviw' } } });
    const { permanent, message, remedy } = await refusalOf(mover.move('ABC-1', 'inReview'));
    expect(permanent).toBe(true);
    expect(message).toContain('no state "In Reviw" (svc.tracker.stateMap.inReview)');
    expect(message).toContain('"Backlog", "Todo", "In Progress", "In Review"');
    expect(remedy).toContain('svc config set svc.tracker.stateMap.inReview "In Review"');
  });

  test('other capitals are the same state', async () => {
    const { mover } = await world({ cached, tracker: { stateMap: { done: 'DONE' } } });
    expect(await mover.move('ABC-1', 'done')).toMatchObject({ outcome: 'moved', to: 'Done' });
    expect(await mover.move('ABC-1', 'done')).toMatchObject({ outcome: 'already' });
  });
});

describe('requests', () => {
  const path: TicketPhase[] = ['research', 'inReview', 'done'];

  test('a transition takes two with the cache and three without, which then remembers', async () => {
    const withCache = await world({ cached: true });
    const without = await world();
    await withCache.mover.move('ABC-1', 'inReview');
    await without.mover.move('ABC-1', 'inReview');
    expect(withCache.tracker.calls()).toEqual(['issue', 'issueUpdate']);
    expect(without.tracker.calls()).toEqual(['issue', 'teams', 'issueUpdate']);
    await without.mover.move('ABC-1', 'done');
    expect(without.tracker.calls().slice(3)).toEqual(['issue', 'issueUpdate']);
  });

  test('all moves of a ticket take fewer with the cache', async () => {
    const count = async (cached: boolean, phases: readonly TicketPhase[]) => {
      const { mover } = await world({ cached });
      for (const phase of phases) await mover.move('ABC-1', phase);
      return mover.requests();
    };
    const percentSaved = async (phases: readonly TicketPhase[]) => {
      const [cached, uncached] = [await count(true, phases), await count(false, phases)];
      return Math.round((1 - cached / uncached) * 100);
    };
    expect(await percentSaved(path.slice(0, 1))).toBe(33);
    expect(await percentSaved(path)).toBe(14);
  });
});

describe('what changed at the tracker', () => {
  test('a cached id that is gone: the state is found by its name, and the remedy is shown', async () => {
    const gone = { 'In Review': '00000000-0000-4000-8000-000000000000' };
    const { mover, stateOf } = await world({ tracker: { stateIds: gone } });
    const move = await mover.move('ABC-1', 'inReview');
    expect(move).toMatchObject({ outcome: 'moved', remedy: expect.stringContaining('--force') });
    expect(stateOf('ABC-1')).toBe('In Review');
  });

  test('a state that was created after the states were fetched', async () => {
    const { mover, tracker, team } = await world({ tracker: { stateMap: { done: 'Shipped' } } });
    await refusalOf(mover.move('ABC-1', 'done'));
    tracker.cloud.addState({ teamId: team.id, name: 'Shipped' });
    expect(await mover.move('ABC-1', 'done')).toMatchObject({ outcome: 'moved', to: 'Shipped' });
  });

  test('a ticket of another team than the cached one gets that team’s state', async () => {
    const { mover, tracker, stateOf } = await world({ cached: true });
    const other = tracker.cloud.addTeam({ key: 'XYZ' });
    const moved = tracker.cloud.addIssue({ teamId: other.id, title: 'went away' });
    tracker.cloud.changeIssue(moved.id, { id: 'ABC-9' });
    expect(await mover.move('ABC-9', 'done')).toMatchObject({ outcome: 'moved', to: 'Done' });
    expect(stateOf('ABC-9')).toBe('Done');
    // The cached id is not tried: it is the other team's.
    expect(tracker.calls()).toEqual(['issue', 'teams', 'issueUpdate']);
  });
});

describe('what cannot be moved', () => {
  test('a ticket that does not exist', async () => {
    const { mover } = await world();
    expect(await refusalOf(mover.move('ABC-404', 'done'))).toMatchObject({
      permanent: true,
      message: expect.stringContaining('ABC-404'),
    });
  });

  test('without a project or a token nothing is moved, and the remedy is shown', async () => {
    const { mover, tracker } = await world({ token: null });
    expect(await mover.move('QQQ-1', 'done')).toMatchObject({
      outcome: 'skipped',
      remedy: expect.stringContaining('svc.tracker.teamKey QQQ'),
    });
    expect(await mover.move('ABC-1', 'done')).toMatchObject({
      outcome: 'skipped',
      remedy: expect.stringContaining('svc.tracker.apiToken'),
    });
    expect(tracker.calls()).toEqual([]);
  });

  test.each([
    ['a token that is not accepted', { kind: 'unauthorised' }, true, undefined],
    ['a gateway that is busy', { kind: 'too-many-requests', retryAfter: '30' }, false, 30_000],
    ['an API that is down', { kind: 'server-error', status: 503 }, false, undefined],
    ['an answer that is cut off', { kind: 'cut', when: 'within' }, false, undefined],
    ['an odd error', { kind: 'graphql-error', message: 'odd' }, false, undefined],
  ] as const)('%s', async (_, fault, permanent, retryAfterMs) => {
    const { mover, tracker } = await world({ cached: true });
    tracker.failNext(fault);
    const error = await refusalOf(mover.move('ABC-1', 'done'));
    expect(error).toMatchObject({ permanent, retryAfterMs });
    expect(error.remedy).toBeDefined();
  });

  test('after a lost answer the next try finds the ticket already moved', async () => {
    const { mover, tracker, stateOf } = await world({ cached: true });
    tracker.failNext({ kind: 'cut', when: 'after' }, { field: 'issueUpdate' });
    expect(await refusalOf(mover.move('ABC-1', 'done'))).toMatchObject({ permanent: false });
    expect(stateOf('ABC-1')).toBe('Done');
    expect(await mover.move('ABC-1', 'done')).toMatchObject({ outcome: 'already' });
  });
});

test('a prefix that several projects use for different places: nothing is moved, and the fix is another prefix', async () => {
  const configs = ['web', 'api'].map((name) =>
    projectConfig({ provider: 'github' }, { token: null, repository: { org: 'acme', name } }),
  );
  const mover = createTicketMover({
    configs: () => configs,
    open: () => {
      throw new Error('a tracker was opened');
    },
  });
  expect(await mover.move('GH-1', 'done')).toMatchObject({
    outcome: 'skipped',
    why: 'several projects have tickets like GH-1, so it is unclear whose it is',
    remedy: expect.stringContaining('svc.project.ticketPrefix'),
  });
});
