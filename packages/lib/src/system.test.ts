// Linux by its /proc. macOS by outputs in the formats of its programs, and by the `ps` and `lsof` of this machine.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync, realpathSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Ask, createMacos, linux, type System, system } from './system.ts';

const macos = createMacos();

/** Runs until it is killed, or until this process ends. */
function child(options: { detached?: boolean; cwd?: string } = {}): number {
  const started = spawn(process.execPath, ['-e', 'process.stdin.resume()'], {
    stdio: ['pipe', 'ignore', 'ignore'],
    ...options,
  });
  onTestFinished(() => void started.kill('SIGKILL'));
  return started.pid ?? 0;
}

/** The system reports whole seconds, and counts them from a boot time in whole seconds. */
const UNSURE_MS = 2_500;

async function endedPid(): Promise<number> {
  const ended = spawn(process.execPath, ['-e', ''], { stdio: 'ignore' });
  await once(ended, 'exit');
  return ended.pid ?? 0;
}

const sides: Record<string, System> = system === linux ? { linux, macos } : { macos };

describe.each(Object.entries(sides))('processes, as on %s', (_name, side) => {
  test('when one started, and that another is gone', async () => {
    const before = Date.now();
    const pid = child();
    const after = Date.now();
    const gone = await endedPid();
    const found = await side.processStarts([pid, process.pid, gone]);
    const start = found.get(pid);
    const startedAt = start?.state === 'running' ? start.startedAt : Number.NaN;
    expect(startedAt).toBeGreaterThan(before - UNSURE_MS);
    expect(startedAt).toBeLessThan(after + UNSURE_MS);
    expect(found.get(process.pid)?.state).toBe('running');
    expect(found.get(gone)).toEqual({ state: 'gone' });
    expect((await side.processStarts([pid])).get(pid)).toEqual(start);
    expect(await side.processStarts([])).toEqual(new Map());
    expect(await side.processStarts([gone])).toEqual(new Map([[gone, { state: 'gone' }]]));
  });

  test('a zombie is gone, and no member of its group', async () => {
    // The shell becomes `cat`, which never collects its child.
    const parent = spawn('/bin/sh', ['-c', 'sleep 0 & echo $!; exec cat'], {
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: true,
    });
    onTestFinished(() => void parent.kill('SIGKILL'));
    const pid = Number(String((await once(parent.stdout, 'data'))[0]));
    await expect.poll(async () => (await side.processStarts([pid])).get(pid)).toEqual({ state: 'gone' });
    expect(await side.groupMembers(parent.pid ?? 0)).toEqual([parent.pid]);
  });

  test('the members of a group, children, and the parent in a shell', async () => {
    const leader = child({ detached: true });
    expect(await side.groupMembers(leader)).toEqual([leader]);
    expect(await side.groupMembers(await endedPid())).toEqual([]);
    expect(await side.childrenOf(process.pid)).toContain(leader);
    expect(await side.childrenOf(leader)).toEqual([]);
    const above = (pid: number): string =>
      execFileSync('/bin/sh', ['-c', `pid=${pid}; ${side.readParent} && echo "$parent $name"`], {
        encoding: 'utf8',
      });
    expect(above(leader)).toMatch(new RegExp(`^${process.pid} \\(\\S+\\)\n$`));
    const gone = await endedPid();
    expect(() => above(gone)).toThrow('Command failed');
  });

  test('the working folder', async () => {
    const folder = realpathSync(temporaryFolder());
    expect(await side.workingFolderOf(child({ cwd: folder }))).toBe(folder);
    expect(await side.workingFolderOf(await endedPid())).toBeUndefined();
  });
});

test.runIf(system === linux)('the variables of a process, only on Linux', async () => {
  const shell = spawn('/bin/cat', { env: { A: 'b c' }, stdio: ['pipe', 'ignore', 'ignore'] });
  onTestFinished(() => void shell.kill('SIGKILL'));
  await expect.poll(() => linux.environmentOf(shell.pid ?? 0)).toContain('A=b c');
  expect(await linux.environmentOf(await endedPid())).toBeUndefined();
  expect(await macos.environmentOf(process.pid)).toBeUndefined();
});

/** macOS whose programs print the given texts; another program fails. */
const printing = (texts: Record<string, string>): System => {
  const ask: Ask = async (program) => texts[program];
  return createMacos(ask);
};

const ps = `  412     1   412   501 Ss   Mon Nov 16 08:01:02 2026
  977   412   412   501 S+   Mon Nov 16 09:15:44 2026
  978   412   412   501 Z    Mon Nov 16 09:15:45 2026
 1033     1  1033    -2 S    Sun Nov  1 23:59:59 2026
`;

describe('outputs of macOS', () => {
  test('ps', async () => {
    const { processStarts, groupMembers, childrenOf } = printing({ ps });
    const startedAt = Date.parse('2026-11-01T23:59:59Z');
    expect(await processStarts([1033, 978, 5])).toEqual(
      new Map([
        [1033, { state: 'running', startedAt, mark: 'Sun Nov  1 23:59:59 2026' }],
        [978, { state: 'gone' }],
        [5, { state: 'gone' }],
      ]),
    );
    expect(await groupMembers(412)).toEqual([412, 977]);
    expect(await childrenOf(412)).toEqual([977]);
    expect(await childrenOf(1033)).toEqual([]);
  });

  test.each([
    ['no answer', {}],
    ['an unknown format', { ps: `${ps}ps: illegal option\n` }],
  ])('ps with %s is unknown, not gone', async (_name, texts) => {
    const { processStarts, groupMembers, childrenOf } = printing(texts);
    expect((await processStarts([412])).get(412)?.state).toBe('unknown');
    expect([await groupMembers(412), await childrenOf(412)]).toEqual([undefined, undefined]);
  });

  test('a time in another form is unknown', async () => {
    const { processStarts } = printing({ ps: '  412     1   412   501 Ss   lundi 16 à 08:01\n' });
    expect((await processStarts([412])).get(412)?.state).toBe('unknown');
  });

  test.each([
    ['p412\nfcwd\nn/Users/ann/my project\n', '/Users/ann/my project'],
    ['p412\nfcwd\nn/Users/ann/Gr\\xc3\\xb6\\xc3\\x9fe\n', undefined],
    ['p412\nfcwd\n', undefined],
    ['', undefined],
  ])('lsof %j', async (lsof, folder) => {
    expect(await printing({ lsof }).workingFolderOf(412)).toBe(folder);
  });

  // The columns of macOS 12, 15 and 26.
  const title = 'Active Internet connections (including servers)\n';
  const formats = {
    'macOS 12': `${title}Proto Recv-Q Send-Q  Local Address          Foreign Address        (state)      rhiwat  shiwat    pid   epid state  options           gencnt    flags   flags1 usscnt rtncnt fltrs
tcp4       0      0  127.0.0.1.7400         127.0.0.1.50412        ESTABLISHED  407404  146988   1033      0 00102 00000008 00000000003e3959 00000081 00000800      1      0 000001
tcp4       0      0  127.0.0.1.7400         *.*                    LISTEN       131072  131072    412      0 00100 00000006 00000000003e3959 00000001 00000800      1      0 000001
tcp4       0      0  127.0.0.1.17400        *.*                    LISTEN       131072  131072   1033      0 00100 00000006 00000000003e395a 00000001 00000800      1      0 000001
`,
    'macOS 15': `${title}Proto Recv-Q Send-Q  Local Address          Foreign Address        (state)          rxbytes      txbytes  rhiwat  shiwat    pid   epid state  options           gencnt    flags   flags1 usecnt rtncnt fltrs
tcp4       0      0  127.0.0.1.7400         *.*                    LISTEN                 0            0  131072  131072    412      0 00000 00000006 0000000000010cb7 00000000 00000900      1      0 000000
tcp6       0      0  ::1.7400               *.*                    LISTEN                 0            0  131072  131072   1033      0 00000 00000006 0000000000010cb9 00000000 00000900      1      0 000000
`,
    'macOS 26': `${title}Proto Recv-Q Send-Q  Local Address          Foreign Address        (state)          rxbytes      txbytes  rhiwat  shiwat          process:pid    state  options           gencnt    flags   flags1 usecnt rtncnt fltrs
tcp4       0      0  127.0.0.1.50412        127.0.0.1.7400         ESTABLISHED      8237954         2199  513160  146988 Brave Browser He:7187   00102 00000008 00000000017f35e1 00000081 00000800      1      0 000000
tcp4       0      0  127.0.0.1.7400         *.*                    LISTEN                 0            0  131072  131072  node: svc 9 (He:412    00100 00000106 00000000017f35e4 00000001 00000800      1      0 000000
`,
  };

  test.each(Object.entries(formats))('the users who listen, by netstat of %s', async (_name, netstat) => {
    const asked: string[][] = [];
    const side = createMacos(async (program, args) => {
      asked.push([program, ...args]);
      return program === 'netstat' ? netstat : ps.split('\n', 1)[0];
    });
    expect(await side.listenersOf(7400)).toEqual([501]);
    expect(asked[1]?.slice(0, 3)).toEqual(['ps', '-p', '412']);
    expect(await side.listenersOf(7401)).toEqual([]);
    expect(await printing({ netstat }).listenersOf(7400)).toBeUndefined();
    // It has ended meanwhile.
    expect(await printing({ netstat, ps: '' }).listenersOf(7400)).toBeUndefined();
    expect(await side.socketTable('tcp')).toBeUndefined();
  });

  test.runIf(system.serviceManager === 'launchd')('netstat of this machine', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    expect(await macos.listenersOf(port)).toEqual([process.getuid?.()]);
  });

  test.each(['', 'netstat: illegal option', formats['macOS 15'].replace('   pid ', ' owner ')])(
    'netstat in an unknown format: %j',
    async (netstat) => {
      expect(await printing({ netstat, ps }).listenersOf(7400)).toBeUndefined();
    },
  );
});

test.each([
  [macos, {}, 'open'],
  [linux, { DISPLAY: ':0' }, 'xdg-open'],
  [linux, { WAYLAND_DISPLAY: 'wayland-0' }, 'xdg-open'],
  [linux, {}, undefined],
  [linux, { DISPLAY: '' }, undefined],
])('the browser opener: case %#', (side, environment, command) => {
  expect(side.openerIn(environment)).toBe(command);
});

test('no other file of the product depends on the operating system', () => {
  const root = join(import.meta.dirname, '../../..');
  const specific =
    /process\.platform|os\.platform|'(?:darwin|linux)'|\/proc\b|\/bin\/ps|\bexecFile\w*\('(?:ps|lsof|netstat)'|xdg-open|'notify-send|'osascript|\bflock\b|\bsetsid\b/;
  const files = globSync(
    ['packages/{core,client,dashboard,demo,lib,monitor,relay}/src/**/*.{ts,tsx}', 'bin/*'],
    {
      cwd: root,
    },
  ).filter((file) => !/\.test\.tsx?$|\/testing\//.test(file));
  expect(files.length).toBeGreaterThan(500);
  expect(files.filter((file) => specific.test(readFileSync(join(root, file), 'utf8')))).toEqual([
    'packages/lib/src/system.ts',
  ]);
});
