import { execFile, execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import { expect, test } from 'vitest';
import { createDiskCalls, networkDiskIn } from './disk-calls.ts';
import { parseMounts } from './system.ts';

const TIMEOUT_MS = 30;

function createCalls(timeoutMs = TIMEOUT_MS) {
  return createDiskCalls({
    networkDisk: (path) => /^\/net\/\w+/.exec(path)?.[0],
    timeoutMs,
    localTimeoutMs: timeoutMs,
  });
}

/** A call that is answered when the test says so. */
function held() {
  const { promise, resolve } = Promise.withResolvers<string>();
  return { work: () => promise, answer: () => resolve('late') };
}

test('a call without an answer is refused in time; until it is answered, its disk gets no other call', async () => {
  const calls = createCalls();
  const stuck = held();
  await expect(calls.call('/net/a/x', stuck.work)).rejects.toThrow('/net/a/x does not answer.');
  expect(calls.unanswered()).toBe(1);
  let isAsked = false;
  const ask = async (): Promise<void> => void (isAsked = true);
  await expect(calls.call('/net/a/y', ask)).rejects.toThrow('/net/a/y does not answer.');
  expect(isAsked).toBe(false);
  await expect(calls.call('/net/b/x', async () => 'other disk')).resolves.toBe('other disk');
  await expect(calls.call('/home/x', async () => 'own disk')).resolves.toBe('own disk');
  stuck.answer();
  await expect.poll(() => calls.unanswered()).toBe(0);
  await expect(calls.call('/net/a/y', async () => 'again')).resolves.toBe('again');
});

test('disks that do not answer take two threads at most, one each, however many calls wait', async () => {
  const calls = createCalls();
  let begun = 0;
  const stuck = held();
  const work = (): Promise<string> => {
    begun += 1;
    return stuck.work();
  };
  const paths = ['a', 'b', 'c'].flatMap((disk) => [1, 2, 3].map((file) => `/net/${disk}/${file}`));
  const results = await Promise.allSettled(paths.map((path) => calls.call(path, work)));
  expect(results.every(({ status }) => status === 'rejected')).toBe(true);
  expect(begun).toBe(2);
  stuck.answer();
  await expect.poll(() => calls.unanswered()).toBe(0);
  expect(begun).toBe(2);
  await expect(calls.call('/net/c/1', async () => 'answered')).resolves.toBe('answered');
});

test('a file that is opened too late is closed', async () => {
  const calls = createCalls();
  const stuck = held();
  const discarded: string[] = [];
  await expect(calls.call('/home/x', stuck.work, (late) => discarded.push(late))).rejects.toThrow(
    'does not answer',
  );
  expect(discarded).toEqual([]);
  stuck.answer();
  await expect.poll(() => discarded).toEqual(['late']);
});

test('a process that was late itself gives the disk its time once more', async () => {
  const timeoutMs = 1_000;
  const calls = createCalls(timeoutMs);
  const answer = calls.call('/net/a/x', () => readFile(import.meta.filename, 'utf8'));
  const until = performance.now() + 1.2 * timeoutMs;
  // Nothing else of this process runs meanwhile.
  while (performance.now() < until);
  await expect(answer).resolves.toContain('Nothing else');
});

test('the mount point of a network disk is found, also with a space in its name or below another disk', () => {
  const mounts = parseMounts(
    [
      '25 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw',
      '26 25 0:40 / /mnt/my\\040disk rw shared:1 - nfs4 server:/x rw',
      '27 26 8:2 / /mnt/my\\040disk/local rw - xfs /dev/sdb1 rw',
      '28 25 0:41 / /home/kim/remote rw - fuse.sshfs kim@server:/ rw',
      '29 25 0:42 / /over rw - nfs server:/y rw',
      '30 29 0:43 / /over rw - tmpfs tmpfs rw',
      '',
    ].join('\n'),
  );
  expect(networkDiskIn(mounts, '/mnt/my disk/a/b')).toBe('/mnt/my disk');
  expect(networkDiskIn(mounts, '/mnt/my disk')).toBe('/mnt/my disk');
  expect(networkDiskIn(mounts, '/mnt/my disk/local/a')).toBeUndefined();
  expect(networkDiskIn(mounts, '/mnt/my disks')).toBeUndefined();
  expect(networkDiskIn(mounts, '/home/kim/remote/../own')).toBeUndefined();
  expect(networkDiskIn(mounts, '/home/kim/remote/x')).toBe('/home/kim/remote');
  expect(networkDiskIn(mounts, '/over/x')).toBeUndefined();
  expect(networkDiskIn([], '/anything')).toBeUndefined();
});

test('a process ends with its code while a call is not answered', async () => {
  const pipe = join(temporaryFolder(), 'pipe');
  execFileSync('mkfifo', [pipe]);
  const program = `
    const { diskCalls, exitProcess } = await import(${JSON.stringify(join(import.meta.dirname, 'disk-calls.ts'))});
    const { open } = await import('node:fs/promises');
    // A plain open of a pipe waits for a writer: it takes a thread, as a call to a disk that is gone does.
    diskCalls.call('/x', () => open(${JSON.stringify(pipe)}, 'r')).catch(() => undefined);
    process.on('exit', () => process.stdout.write('last words'));
    setTimeout(() => exitProcess(3), 50);`;
  const ended = await new Promise((resolve) =>
    execFile(process.execPath, ['--input-type=module', '-e', program], (error, out, wrong) =>
      resolve({ code: error?.code, out, wrong }),
    ),
  );
  expect(ended).toEqual({ code: 3, out: 'last words', wrong: '' });
});
