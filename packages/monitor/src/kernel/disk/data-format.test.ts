import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import { expect, test } from 'vitest';
import { recordFormat, refuseNewerData } from './data-format.ts';

const recordIn = (dataDir: string) =>
  JSON.parse(readFileSync(join(dataDir, 'format.json'), 'utf8')) as object;

test('a folder without a record becomes format 1, and stays so', async () => {
  const dataDir = join(temporaryFolder(), 'svc');
  await recordFormat(dataDir, '0.1.0');
  expect(recordIn(dataDir)).toEqual({ format: 1, svc: '0.1.0' });
  expect(statSync(join(dataDir, 'format.json')).mode & 0o777).toBe(0o600);
  await recordFormat(dataDir, '0.2.0');
  expect(recordIn(dataDir)).toEqual({ format: 1, svc: '0.1.0' });
  expect(readdirSync(dataDir)).toEqual(['format.json']);
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
  await expect(recordFormat(dataDir, '0.1.0')).rejects.toMatchObject(failure);
  expect(() => refuseNewerData(dataDir)).toThrow(failure.message);
  expect(readFileSync(join(dataDir, 'format.json'), 'utf8')).toBe(text);
});

test('a record that cannot be read is refused: the format is unknown', async () => {
  for (const text of ['', '{"format":0,"svc":"1"}', '{"format":"1"}', 'null']) {
    const dataDir = temporaryFolder();
    mkdirSync(dataDir, { recursive: true });
    writeFileSync(join(dataDir, 'format.json'), text);
    await expect(recordFormat(dataDir, '0.1.0')).rejects.toThrow('the format of the data is unknown');
    expect(readFileSync(join(dataDir, 'format.json'), 'utf8')).toBe(text);
  }
});
