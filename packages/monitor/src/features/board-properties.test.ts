import { createRandom } from '@svc/testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Board, type FoldedLine } from '../kernel/board/board.ts';
import { numbered, randomTape } from '../kernel/board/testing/tape.ts';
import type { Effect } from '../kernel/outbox/effect.ts';
import { emptyBoard, foldLine, packBoard, unpackBoard } from './board.ts';
import { needsOf } from './tickets/needs.ts';
import { topics } from './topics.ts';

const seeds = fc.integer({ min: 1, max: 1_000_000 });
const runs = { numRuns: 60 };

function fold(lines: readonly FoldedLine[], board = emptyBoard()): { board: Board; effects: Effect[] } {
  const effects = lines.flatMap((line) => foldLine(board, line));
  return { board, effects };
}

const again = (board: Board): Board => unpackBoard(JSON.parse(JSON.stringify(packBoard(board))));

/** What upstream reported, without the seq of the lines. */
function substance({ pullRequests, deployments, tickets }: Board): unknown {
  const bare = (entities: Map<string, object>): unknown =>
    JSON.parse(
      JSON.stringify(
        [...entities].toSorted(([one], [other]) => (one < other ? -1 : 1)),
        (key, value) => (/^(seq|lastSeq|lastAt|firstSeq|asOf|askedSeq)$/.test(key) ? undefined : value),
      ),
    );
  return [bare(pullRequests), bare(deployments), bare(tickets)];
}

describe('the board over random tapes', () => {
  test('folding from a snapshot at any line gives the same board as folding at once', () => {
    fc.assert(
      fc.property(seeds, fc.integer({ min: 0, max: 300 }), (seed, cut) => {
        const tape = randomTape(createRandom(seed), 300);
        const whole = fold(tape);
        const first = fold(tape.slice(0, cut));
        const restored = again(first.board);
        expect(restored).toEqual(first.board);
        const rest = fold(tape.slice(cut), restored);
        expect(rest.board).toEqual(whole.board);
        expect([...first.effects, ...rest.effects]).toEqual(whole.effects);
      }),
      runs,
    );
  });

  test('what needs a person is what was raised, after every line', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const board = emptyBoard();
        const needs: [string, string[]][] = [];
        const raised: [string, string[]][] = [];
        for (const line of randomTape(createRandom(seed), 200)) {
          foldLine(board, line);
          for (const worker of board.workers.values()) {
            if (worker.removed || worker.status === 'canceled') continue;
            const now = needsOf(board, worker).filter((reason) => reason !== 'worker-failed');
            needs.push([`${line.seq} ${worker.key}`, now.toSorted()]);
            const open = worker.raised.filter((reason) => reason !== 'verification-failed');
            raised.push([`${line.seq} ${worker.key}`, open.toSorted()]);
          }
        }
        expect(raised).toEqual(needs);
      }),
      runs,
    );
  });

  test('nothing that is done with attention items changes what needs a person', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const isPersons = ({ event, source }: FoldedLine) => event.startsWith('comms.') && source === 'cli';
        const tape = randomTape(createRandom(seed), 300);
        const needs = ({ workers, ...board }: Board) =>
          [...workers.values()].map((worker) => [worker.key, needsOf({ workers, ...board }, worker)]);
        const calm = fold(tape.filter((line) => !isPersons(line))).board;
        expect(needs(fold(tape).board)).toEqual(needs(calm));
      }),
      runs,
    );
  });

  test('lines that were already folded change nothing and have no effects', () => {
    fc.assert(
      fc.property(seeds, fc.integer({ min: 0, max: 200 }), (seed, from) => {
        const tape = randomTape(createRandom(seed), 200);
        const { board } = fold(tape);
        const before = JSON.stringify(packBoard(board));
        expect(fold(tape.slice(from), board).effects).toEqual([]);
        expect(JSON.stringify(packBoard(board))).toBe(before);
      }),
      { numRuns: 10 },
    );
  });

  test('no entity is changed in place', () => {
    const tape = randomTape(createRandom(5), 400);
    const board = emptyBoard();
    for (const line of tape) {
      foldLine(board, line);
      for (const map of [board.pullRequests, board.workers, board.deployments, board.runs, board.tickets])
        for (const entity of map.values()) deepFreeze(entity);
    }
    expect(board.seq).toBe(400);
  });

  test('effects have unique keys', () => {
    const { effects } = fold(randomTape(createRandom(7), 2000));
    const keys = effects.map(({ key }) => key);
    expect(new Set(keys).size).toBe(keys.length);
    expect(new Set(effects.map(({ kind }) => kind)).size).toBe(6);
    for (const { key, seq, kind } of effects) expect(key.startsWith(`${seq}:${kind}:`)).toBe(true);
  });

  test('a repeated delivery changes nothing, however late it comes', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const random = createRandom(seed);
        const tape = randomTape(random, 150, { upstreamOnly: true });
        const doubled = tape.flatMap((line, index) =>
          random.chance(0.5) ? [line, tape[random.below(index + 1)] ?? line] : [line],
        );
        const expected = fold(tape);
        const { board } = fold(renumbered(doubled));
        expect(substance(board)).toEqual(substance(expected.board));
      }),
      runs,
    );
  });

  test('late arrivals: the newest state wins, whatever arrives last', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const random = createRandom(seed);
        const tape = randomTape(random, 120, { upstreamOnly: true });
        const opened = tape.filter(({ event }) => event === 'codehost.pr.opened');
        const others = tape.filter(({ event }) => event !== 'codehost.pr.opened');
        const inOrder = fold(renumbered([...opened, ...others])).board;
        const late = fold(renumbered([...opened, ...random.shuffled(others)])).board;
        expect(orderFree(late)).toEqual(orderFree(inOrder));
      }),
      runs,
    );
  });
});

/** Lines keep the time at which they happened and get new numbers, all accepted after the last of them. */
function renumbered(lines: readonly FoldedLine[]): FoldedLine[] {
  return lines.map((line, index) => numbered(line, 1000 + index));
}

/** What must not depend on the order of arrival. Checks are left out, because they need a known head. */
function orderFree({ pullRequests, deployments, tickets }: Board): unknown {
  const sorted = (texts: string[]): string[] => texts.toSorted();
  return {
    pullRequests: [...pullRequests.values()].map((pull) => [
      [pull.repo.toLowerCase(), pull.number, pull.state, pull.headSha, pull.draft, pull.title],
      [pull.merge?.sha, pull.merge?.at, pull.verdict],
      sorted(pull.reviews.map(({ reviewer, state }) => `${reviewer} ${state}`)),
      sorted(pull.unresolvedThreads),
    ]),
    deployments: Object.fromEntries([...deployments].map(([key, { state }]) => [key, state])),
    tickets: Object.fromEntries(
      [...tickets].map(([key, { title, state, assignee, removed }]) => [
        key,
        [title, state, assignee, removed],
      ]),
    ),
  };
}

test('no detail breaks the fold', () => {
  const scopes = [
    {},
    { repo: 'acme/web', pr: 1, sha: 'a', branch: 'b' },
    { repo: 'acme/web', deploymentId: 1, sha: 'a', environment: 'production' },
    { orchestrator: 'run-1', ticket: 'ENG-1', mergeSha: 'a', sha: 'b' },
  ];
  const names = [
    'signal',
    'policy',
    'pr',
    'prs',
    'state',
    'labels',
    'evidence',
    'tickets',
    'body',
    'reason',
    'feed',
  ];
  const detail = fc.dictionary(fc.oneof(fc.constantFrom(...names), fc.string()), fc.jsonValue());
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom(...topics.names), fc.constantFrom(...scopes), detail), {
        maxLength: 40,
      }),
      (lines) => {
        const board = emptyBoard();
        for (const [index, [event, scope, detailOf]] of lines.entries())
          foldLine(
            board,
            numbered({ event, scope, detail: detailOf, source: 'cli', via: 'local' }, index + 1),
          );
        expect(again(board)).toEqual(board);
      },
    ),
    { numRuns: 300 },
  );
});

function deepFreeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const child of Object.values(value)) deepFreeze(child);
}
