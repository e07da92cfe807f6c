import { readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import { expect, test } from 'vitest';
import { testTeam } from '../testing/test-team.ts';
import { readTeamFile, removeTeamFile, writeTeamFile } from './team-file.ts';

test('the file before the last change is kept, and named when the newest cannot be read', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'team.json');
  const [file] = await testTeam('https://relay.example.com/channel');
  await writeTeamFile(folder, file);
  await writeTeamFile(folder, { ...file, rosterVersion: 2 });
  expect(JSON.parse(readFileSync(`${path}.1`, 'utf8'))).toMatchObject({ rosterVersion: 1 });
  for (const one of [path, `${path}.1`]) expect(statSync(one).mode & 0o777).toBe(0o600);
  writeFileSync(path, '{ "cut');
  await expect(readTeamFile(folder)).rejects.toMatchObject({
    code: 'file-unusable',
    remedy: expect.stringContaining(`cp -p ${path}.1 ${path}`),
  });
  // What cannot be read never replaces the copy.
  const copy = readFileSync(`${path}.1`, 'utf8');
  await writeTeamFile(folder, { ...file, rosterVersion: 3 });
  expect(readFileSync(`${path}.1`, 'utf8')).toBe(copy);
  await removeTeamFile(folder);
  expect(await readTeamFile(folder)).toBeUndefined();
  writeFileSync(path, '{ "cut');
  await expect(readTeamFile(folder)).rejects.toMatchObject({
    remedy: expect.stringContaining('svc team leave'),
  });
});

test.each([
  ['emptied', (path: string) => writeFileSync(path, '')],
  ['a link to nothing', (path: string) => symlinkSync('/nowhere/at/all', path)],
])('a machine with a file that is %s is still in its team', async (_name, damage) => {
  const folder = temporaryFolder();
  damage(join(folder, 'team.json'));
  await expect(readTeamFile(folder)).rejects.toMatchObject({ code: 'file-unusable' });
});

test('a file that could not be read again is not written', async () => {
  const folder = temporaryFolder();
  const [file] = await testTeam('https://relay.example.com/channel');
  await writeTeamFile(folder, file);
  const roster = { ...file.roster, members: [{ id: 'x' }] } as never;
  await expect(writeTeamFile(folder, { ...file, roster })).rejects.toThrow('was dropped');
  expect(await readTeamFile(folder)).toEqual(file);
});
