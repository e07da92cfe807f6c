import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder, WAIT_MS } from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import { createFileLocks } from '../../../kernel/disk/lock.ts';
import type { Finding } from '../findings.ts';
import { createFindingsQueue, findingsFile } from './queue.ts';

const finding = (title: string): Finding => ({
  ts: '2026-01-02T03:04:05.678Z',
  skill: 'plan',
  title,
  body: 'seen',
  severity: 'low',
  tags: [],
});

function setup() {
  const folder = temporaryFolder();
  const locks = createFileLocks({ folder: join(folder, 'locks'), timeoutMs: WAIT_MS });
  const file = join(folder, '.svc', 'findings', 'current.jsonl');
  return { folder, file, queue: createFindingsQueue({ file, locks }) };
}

const titles = (lines: Awaited<ReturnType<ReturnType<typeof setup>['queue']['lines']>>) =>
  lines.map(({ read }) => ('finding' in read ? read.finding.title : read.problem));

describe('adding', () => {
  test('concurrent appends are whole lines, and git ignores them', async () => {
    const { queue, file, folder } = setup();
    await Promise.all(Array.from({ length: 40 }, (_, index) => queue.append(finding(`number ${index}`))));
    expect(titles(await queue.lines()).toSorted()).toEqual(
      Array.from({ length: 40 }, (_, index) => `number ${index}`).toSorted(),
    );
    expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(41);
    expect(readFileSync(join(folder, '.svc/findings/.gitignore'), 'utf8')).toBe('*\n');
  });

  test('a torn last line does not swallow the next', async () => {
    const { queue, file } = setup();
    await queue.append(finding('whole'));
    appendFileSync(file, '{"ts":"2026-01-02T03:0');
    await queue.append(finding('after'));
    expect(titles(await queue.lines())).toEqual(['whole', 'not JSON', 'after']);
  });

  test('a file that cannot be written is reported with its reason', async () => {
    const { folder } = setup();
    const locks = createFileLocks({ folder: join(folder, 'locks') });
    writeFileSync(join(folder, 'plain'), '');
    const queue = createFindingsQueue({ file: join(folder, 'plain', 'queue.jsonl'), locks });
    await expect(queue.append(finding('x'))).rejects.toMatchObject({ code: 'file-unusable' });
  });

  test('unless it exists already', async () => {
    const { queue } = setup();
    await queue.append({ ...finding('a'), body: 'key-1' }, 'key-1');
    await queue.append({ ...finding('a'), body: 'key-1' }, 'key-1');
    await queue.append({ ...finding('a'), body: 'key-2' }, 'key-2');
    expect(await queue.lines()).toHaveLength(2);
  });
});

test('a key stays the same while lines are added, and equal lines have different ones', async () => {
  const { queue } = setup();
  await queue.append(finding('same'));
  const [first] = await queue.lines();
  await queue.append(finding('other'));
  await queue.append(finding('same'));
  const lines = await queue.lines();
  expect(lines[0]?.key).toBe(first?.key);
  expect(new Set(lines.map(({ key }) => key)).size).toBe(3);
  expect(first?.key).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test('the file is removed only if every line is settled at that moment', async () => {
  const { queue, file } = setup();
  await queue.append(finding('a'));
  const [line] = await queue.lines();
  await queue.append(finding('came meanwhile'));
  const known = ({ key }: { key: string }) => key === line?.key;
  const rescue = async () => undefined;
  expect(await queue.removeIfSettled(known, rescue)).toBe(false);
  expect(await queue.removeIfSettled(() => true, rescue)).toBe(true);
  expect(existsSync(file)).toBe(false);
  expect(await queue.lines()).toEqual([]);
});

describe('the path', () => {
  const at = (environment: Record<string, string>, folder: string) =>
    findingsFile({ environment, folder, home: '/nowhere' });

  test('first match wins: SVC_FINDINGS_FILE, then the session, then current', async () => {
    const root = temporaryFolder();
    mkdirSync(join(root, '.git'));
    const both = { SVC_FINDINGS_FILE: '/x/f.jsonl', SVC_SESSION_ID: 'abc' };
    expect(await at(both, root)).toBe('/x/f.jsonl');
    expect(await at({ SVC_SESSION_ID: 'abc' }, root)).toBe(join(root, '.svc/findings/abc.jsonl'));
    expect(await at({ SVC_SESSION_ID: '', SVC_FINDINGS_FILE: '' }, root)).toBe(
      join(root, '.svc/findings/current.jsonl'),
    );
  });

  test('it depends on the project, not on the current folder', async () => {
    const root = temporaryFolder();
    const deep = join(root, 'packages', 'web', 'src');
    mkdirSync(deep, { recursive: true });
    mkdirSync(join(root, '.git'));
    expect(await at({}, deep)).toBe(join(root, '.svc/findings/current.jsonl'));
    expect(await at({ SVC_FINDINGS_FILE: 'f.jsonl' }, deep)).toBe(join(root, 'f.jsonl'));
    mkdirSync(join(root, 'packages/web/.svc'));
    writeFileSync(join(root, 'packages/web/.svc/config.json'), '{}');
    expect(await at({}, deep)).toBe(join(root, 'packages/web/.svc/findings/current.jsonl'));
  });

  test.each(['../x', 'a/b', '.hidden', 'a b', 'x'.repeat(121)])(
    'a session id %j is refused',
    async (session) => {
      await expect(at({ SVC_SESSION_ID: session }, '/tmp')).rejects.toThrow(
        'SVC_SESSION_ID must be usable as a file name',
      );
    },
  );
});
