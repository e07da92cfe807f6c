import { expect, test } from 'vitest';
import { askWhole } from './git.ts';
import type { CommandEnd } from './process.ts';

const race: CommandEnd = {
  ended: 'exit',
  exitCode: 128,
  stdout: '',
  stderr: 'fatal: failed to read .git/worktrees/ABC-28/commondir: Success\n',
};
const other: CommandEnd = {
  ended: 'exit',
  exitCode: 128,
  stdout: '',
  stderr: "fatal: invalid reference: 'worktrees'\n",
};
const fine: CommandEnd = { ended: 'exit', exitCode: 0, stdout: 'ok', stderr: '' };

test('retried while git finds something half written, and no longer than that', async () => {
  const answers = [race, race, fine, other];
  expect(await askWhole(async () => answers.shift() ?? other, 1)).toBe(fine);
  expect(answers).toEqual([other]);
  expect(await askWhole(async () => other, 1)).toBe(other);
});

test('not forever', async () => {
  let times = 0;
  const ask = async () => {
    times += 1;
    return race;
  };
  expect(await askWhole(ask, 0)).toBe(race);
  expect(times).toBe(41);
});
