import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import { expect, test } from 'vitest';
import { refuseNewerData, upgradeData } from './data-format.ts';

const recordIn = (dataDir: string) =>
  JSON.parse(readFileSync(join(dataDir, 'format.json'), 'utf8')) as object;

test('a folder without a record becomes format 1, and stays so', async () => {
  const dataDir = join(temporaryFolder(), 'svc');
  expect(await upgradeData({ dataDir, version: '0.1.0' })).toEqual({ from: 0, to: 1 });
  expect(recordIn(dataDir)).toEqual({ format: 1, svc: '0.1.0' });
  expect(statSync(join(dataDir, 'format.json')).mode & 0o777).toBe(0o600);
  expect(await upgradeData({ dataDir, version: '0.2.0' })).toEqual({ from: 1, to: 1 });
  expect(recordIn(dataDir)).toEqual({ format: 1, svc: '0.1.0' });
  expect(readdirSync(dataDir)).toEqual(['format.json']);
});

test('steps run in order, from the format of the folder', async () => {
  const dataDir = temporaryFolder();
  const ran: number[] = [];
  const steps = [1, 2, 3].map((format) => async () => void ran.push(format));
  await upgradeData({ dataDir, version: '0.1.0', steps: steps.slice(0, 1) });
  await upgradeData({ dataDir, version: '0.3.0', steps });
  expect(ran).toEqual([1, 2, 3]);
  expect(recordIn(dataDir)).toEqual({ format: 3, svc: '0.3.0' });
});

test('a step that was interrupted anywhere is done again, and nothing is lost', async () => {
  const names = ['a', 'b', 'c'];
  // Writes beside, then renames: interrupted after any of its operations.
  const step = (most: number) => {
    let left = most;
    const may = (): void => {
      left -= 1;
      if (left < 0) throw new Error('killed');
    };
    return async (dataDir: string): Promise<void> => {
      for (const name of names) {
        const [from, to] = [join(dataDir, name), join(dataDir, `${name}.new`)];
        if (!existsSync(from)) continue;
        may();
        writeFileSync(`${to}.tmp`, readFileSync(from, 'utf8').toUpperCase());
        may();
        renameSync(`${to}.tmp`, to);
        may();
        renameSync(from, join(dataDir, `.${name}.old`));
      }
    };
  };
  for (let kill = 0; kill < 9; kill += 1) {
    const dataDir = temporaryFolder();
    for (const name of names) writeFileSync(join(dataDir, name), `content of ${name}`);
    await expect(upgradeData({ dataDir, version: '2', steps: [step(kill)] })).rejects.toThrow('killed');
    expect(existsSync(join(dataDir, 'format.json'))).toBe(false);
    await upgradeData({ dataDir, version: '2', steps: [step(99)] });
    for (const name of names)
      expect(readFileSync(join(dataDir, `${name}.new`), 'utf8')).toBe(`CONTENT OF ${name.toUpperCase()}`);
    expect(recordIn(dataDir)).toEqual({ format: 1, svc: '2' });
  }
});

test('newer data is refused with who wrote it and what to do; nothing is changed', async () => {
  const dataDir = temporaryFolder();
  const text = '{"format":7,"svc":"3.1.0","more":true}';
  writeFileSync(join(dataDir, 'format.json'), text);
  const failure = {
    code: 'file-unusable',
    message: `The data in ${dataDir} has format 7, written by svc 3.1.0. This svc knows formats up to 1. Nothing was changed.`,
    remedy: 'Update svc to 3.1.0 or newer, or use another folder: SVC_DATA_DIR=<folder>',
  };
  await expect(upgradeData({ dataDir, version: '0.1.0' })).rejects.toMatchObject(failure);
  expect(() => refuseNewerData(dataDir)).toThrow(failure.message);
  expect(readFileSync(join(dataDir, 'format.json'), 'utf8')).toBe(text);
});

test('a record that cannot be read is refused: the format is unknown', async () => {
  for (const text of ['', '{"format":0,"svc":"1"}', '{"format":"1"}', 'null']) {
    const dataDir = temporaryFolder();
    mkdirSync(dataDir, { recursive: true });
    writeFileSync(join(dataDir, 'format.json'), text);
    await expect(upgradeData({ dataDir, version: '0.1.0' })).rejects.toThrow(
      'the format of the data is unknown',
    );
    expect(readFileSync(join(dataDir, 'format.json'), 'utf8')).toBe(text);
  }
});
