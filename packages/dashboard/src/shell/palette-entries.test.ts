import { describe, expect, test } from 'vitest';
import type { LiveBoard } from '../live/board-store.ts';
import { found, MOST_OF_GROUP, type PaletteEntry, paletteEntries } from './palette-entries.ts';

const mapOf = (entities: object[]): never =>
  new Map(entities.map((one, index) => [String(index), one])) as never;
const board = {
  workers: mapOf([{ ticket: 'TID-1', orchestrator: 'run-1', lastSeq: 4 }]),
  tickets: mapOf([
    { ticket: 'tid-1', title: 'Log in', removed: false, lastSeq: 9 },
    { ticket: 'TID-2', title: null, removed: false, lastSeq: 8 },
    { ticket: 'TID-3', title: 'Gone', removed: true, lastSeq: 8 },
  ]),
  runs: mapOf([{ orchestrator: 'run-1', name: 'Winter', state: 'running', lastSeq: 3 }]),
  pullRequests: mapOf([
    { key: 'acme/web#12', name: 'acme/web#12', title: 'Log in', state: 'open', ticket: 'TID-1', lastSeq: 1 },
    { key: 'acme/web#13', name: 'acme/web#13', title: 'Log out', state: 'open', ticket: null, lastSeq: 2 },
  ]),
  attention: mapOf([
    { id: 'run-1/TID-1/question', ticket: 'TID-1', feed: null, reason: 'question', message: 'Which?' },
  ]),
} as unknown as LiveBoard;

const entry = (name: string, note = ''): PaletteEntry => ({
  id: name,
  group: 'Tickets',
  name,
  note,
  search: {},
  to: '/',
});

describe('the entries', () => {
  const entries = paletteEntries(board);
  const of = (group: string) => entries.filter((one) => one.group === group);
  test('a ticket is listed once, with its run and its title', () => {
    expect(of('Tickets')).toMatchObject([
      { name: 'TID-1', note: 'Log in', to: '/tickets/TID-1', search: { run: 'run-1' } },
      { name: 'TID-2', note: '', to: '/tickets/TID-2' },
    ]);
  });
  test('a pull request leads to its ticket, and without one to the board', () => {
    expect(of('Pull requests')).toMatchObject([
      { name: 'acme/web#13', to: '/', search: { q: 'acme/web#13' } },
      { name: 'acme/web#12', to: '/tickets/TID-1' },
    ]);
  });
  test('attention items and runs lead to their own screens', () => {
    expect(of('Attention')).toMatchObject([{ to: '/attention', search: { id: 'run-1/TID-1/question' } }]);
    expect(of('Runs')).toMatchObject([{ name: 'Winter', to: '/runs/run-1' }]);
  });
});

describe('search', () => {
  test('an empty search finds everything, a few of each group', () => {
    const many = Array.from({ length: 50 }, (_, number) => entry(`TID-${number}`));
    expect(found(many, ' ').get('Tickets')).toHaveLength(MOST_OF_GROUP);
  });
  test('every word must match somewhere', () => {
    expect(
      found([entry('TID-1', 'Log in'), entry('TID-2', 'Log out')], 'log tid out').get('Tickets'),
    ).toMatchObject([{ name: 'TID-2' }]);
  });
  test('names that start with the text come first, then names that contain it, then notes', () => {
    const names = found([entry('A', 'tid'), entry('X-TID'), entry('TID-9')], 'tid').get('Tickets') ?? [];
    expect(names.map(({ name }) => name)).toEqual(['TID-9', 'X-TID', 'A']);
  });
});
