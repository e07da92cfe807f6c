import { describe, expect, test } from 'vitest';
import { topics } from '../../features/topics.ts';
import { createJqFilter } from './jq-filter.ts';

const lines = [
  { event: 'codehost.pr.merged', scope: { pr: 7, ticket: 'ABC-1' }, detail: { title: 'a\n"b"' } },
  { event: 'tracker.issue.created', scope: { ticket: 'ABC-2' }, detail: {} },
  { event: 'codehost.push', scope: {}, detail: { commits: [] } },
].map((line) => JSON.stringify(line));

describe('a line matches when the filter returns anything but false and null', () => {
  test.each([
    ['.event == "codehost.pr.merged" and .scope.pr == 7', [true, false, false]],
    ['.event | startswith("tracker.")', [false, true, false]],
    ['.scope.ticket', [true, true, false]],
    ['.scope.ticket | test("^ABC-[2-9]")', [false, true, false]],
    ['empty', [false, false, false]],
    ['.detail.commits[]', [false, false, false]],
    ['.scope.ticket // "none" | . == "none"', [false, false, true]],
    ['true # a comment', [true, true, true]],
    ['repeat(false)', [false, false, false]],
    ['[.scope | to_entries[] | .key] | length > 1', [true, false, false]],
  ])('%s', async (text, wanted) => {
    expect((await createJqFilter(topics, text))(lines)).toEqual(wanted);
  });
});

test.each([
  ['invalid jq', '.event ==', 'not valid'],
  ['an unknown function', '.event | startwith("x")', 'startwith/1 is not defined'],
  [
    'a topic that cannot exist',
    '.event == "codehost.pr.megred"',
    'No event can have the topic codehost.pr.megred',
  ],
])('%s is refused at once', async (_, text, message) => {
  await expect(createJqFilter(topics, text)).rejects.toThrow(message);
});
