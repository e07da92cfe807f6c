import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import { DatabaseFromNewerVersion, isDamage, openDatabase, setDatabaseAside } from './sqlite.ts';

const first = 'CREATE TABLE one (value TEXT) STRICT';
const second = 'ALTER TABLE one ADD COLUMN more TEXT';

describe('opening', () => {
  test('creates the folder and the file, in WAL mode', () => {
    const path = join(temporaryFolder(), 'deep', 'svc.db');
    const database = openDatabase(path, { area: 'a', migrations: [] });
    expect(database.prepare('PRAGMA journal_mode').get()).toMatchObject({ journal_mode: 'wal' });
    expect(database.prepare('PRAGMA synchronous').get()).toMatchObject({ synchronous: 1 });
    database.close();
    expect(existsSync(path)).toBe(true);
  });

  test('the file and those beside it are for their owner only, even if they existed before', () => {
    const path = join(temporaryFolder(), 'svc.db');
    writeFileSync(path, '', { mode: 0o644 });
    const database = openDatabase(path, { area: 'a', migrations: [first] });
    const modes = ['', '-wal', '-shm'].map((end) => statSync(path + end).mode & 0o777);
    expect(modes).toEqual([0o600, 0o600, 0o600]);
    database.close();
  });

  test.each([
    ['a folder', (path: string): void => mkdirSync(path)],
    ['a pipe', (path: string): void => void execFileSync('mkfifo', [path])],
    ['a link to nothing', (path: string): void => symlinkSync('/nowhere/at/all', path)],
  ])('%s in its place is named, with the fix', (_what, damage) => {
    const path = join(temporaryFolder(), 'svc.db');
    damage(path);
    expect(() => openDatabase(path, { area: 'a', migrations: [first] })).toThrow(
      expect.objectContaining({
        code: 'file-unusable',
        message: expect.stringContaining(`The database ${path} cannot be opened`),
        remedy: expect.stringContaining(`mv ${path} ${path}.old`),
      }),
    );
  });

  test('a file that is not a database is detected, and can be set aside', () => {
    const path = join(temporaryFolder(), 'svc.db');
    writeFileSync(path, 'not a database '.repeat(100));
    let failure: unknown;
    try {
      openDatabase(path, { area: 'a', migrations: [first] });
    } catch (error) {
      failure = error;
    }
    expect(isDamage(failure)).toBe(true);
    expect(isDamage(new Error('other'))).toBe(false);
    const aside = setDatabaseAside(path, 123);
    expect([existsSync(path), existsSync(aside)]).toEqual([false, true]);
    openDatabase(path, { area: 'a', migrations: [first] }).close();
  });
});

describe('migrations', () => {
  test('of several areas run independently, each once', () => {
    const path = join(temporaryFolder(), 'svc.db');
    openDatabase(path, { area: 'a', migrations: [first] }).close();
    openDatabase(path, { area: 'b', migrations: ['CREATE TABLE other (value TEXT)'] }).close();
    const database = openDatabase(path, { area: 'a', migrations: [first, second] });
    database.prepare('INSERT INTO one (value, more) VALUES (?, ?)').run('x', 'y');
    expect(database.prepare('SELECT area, version FROM schema_versions ORDER BY area').all()).toEqual([
      { area: 'a', version: 2 },
      { area: 'b', version: 1 },
    ]);
    database.close();
  });

  test('that fail leave nothing', () => {
    const path = join(temporaryFolder(), 'svc.db');
    const broken = 'CREATE TABLE two (value TEXT); CREATE TABLE nonsense (';
    expect(() => openDatabase(path, { area: 'a', migrations: [first, broken] })).toThrow(/incomplete/);
    const database = openDatabase(path, { area: 'a', migrations: [first, 'CREATE TABLE two (value TEXT)'] });
    expect(database.prepare('SELECT count(*) AS count FROM two').get()).toMatchObject({ count: 0 });
    database.close();
  });

  test('of a newer version are refused', () => {
    const path = join(temporaryFolder(), 'svc.db');
    openDatabase(path, { area: 'a', migrations: [first, second] }).close();
    expect(() => openDatabase(path, { area: 'a', migrations: [first] })).toThrow(DatabaseFromNewerVersion);
  });
});

describe('a transaction', () => {
  test('is all or nothing, and can hold another', () => {
    const database = openDatabase(join(temporaryFolder(), 'svc.db'), { area: 'a', migrations: [first] });
    const insert = database.prepare('INSERT INTO one (value) VALUES (?)');
    const count = () => database.prepare('SELECT count(*) AS count FROM one').get()?.['count'];
    expect(() =>
      database.transaction(() => {
        insert.run('x');
        database.transaction(() => insert.run('y'));
        throw new Error('no');
      }),
    ).toThrow('no');
    expect(count()).toBe(0);
    expect(database.transaction(() => insert.run('z').changes)).toBe(1);
    expect(count()).toBe(1);
    database.close();
  });
});
