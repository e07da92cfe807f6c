// Everything that differs between operating systems. Linux answers from /proc; macOS from `ps`, `lsof` and `netstat`. What a
// system does not show is undefined or `unknown`, never an empty answer. Completion and the demo load this file, so it has
// no dependency.
import { readFileSync } from 'node:fs';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { systemErrorCode } from './errors.ts';
import { ifPresent } from './files.ts';
import { isPid, processExists } from './pid.ts';

export type ProcessStart =
  /** `mark` stays the same for the same process, even when the clock is set. */
  | { state: 'running'; startedAt: number; mark: string }
  | { state: 'gone' }
  | { state: 'unknown'; problem: string };

export type ReadProcessStarts = (pids: readonly number[]) => Promise<Map<number, ProcessStart>>;

/** `isLocal`: a disk of this machine, which answers. */
export type Mount = { at: string; isLocal: boolean };

type Notification = { app: string; title: string; text: string; isUrgent: boolean };
type Program = { file: string; args: string[] };

export type System = {
  processStarts: ReadProcessStarts;
  /** The running processes of a group; zombies do not count. */
  groupMembers: (group: number) => Promise<number[] | undefined>;
  childrenOf: (pid: number) => Promise<number[] | undefined>;
  /** `NAME=value` each. */
  environmentOf: (pid: number) => Promise<string[] | undefined>;
  workingFolderOf: (pid: number) => Promise<string | undefined>;
  /** The kernel's table of TCP sockets, in the format of Linux, with the user of each; undefined without such a table. */
  socketTable: (family: 'tcp' | 'tcp6') => Promise<string | undefined>;
  /** For a system without a socket table: the users who listen on a port of 127.0.0.1. */
  listenersOf: (port: number) => Promise<number[] | undefined>;
  /** A shell command that sets `parent` and `name`, in parentheses, of the process `$pid`. */
  readParent: string;
  /** The program that opens an address in the browser; undefined without a display. */
  openerIn: (environment: Readonly<Record<string, string | undefined>>) => string | undefined;
  /** The program that shows a notification. The texts are arguments, never part of a script. */
  notification: (shown: Notification) => Program | undefined;
  serviceManager: 'systemd' | 'launchd' | undefined;
  /** The mounted disks, in their order; none if the system cannot list them without asking them. */
  mounts: () => Mount[];
};

/** Not a process that svc may look at: nothing is known about it, and it is never ended. */
const noProcess: ProcessStart = { state: 'unknown', problem: 'it is not the id of a process' };

// Linux

/** The unit of start times in /proc; the kernel reports 100 per second to programs. */
const TICKS_PER_SECOND = 100;

export const linux: System = {
  async processStarts(pids) {
    const bootedAt = await bootTime();
    const starts = await Promise.all(
      pids.map(async (pid) => [pid, await startFromProc(pid, bootedAt)] as const),
    );
    return new Map(starts);
  },

  async groupMembers(group) {
    const names = await ifShown(readdir('/proc'));
    const isMember = async (pid: number): Promise<boolean> => {
      const { state, fields } = statFields((await ifShown(readFile(`/proc/${pid}/stat`, 'utf8'))) ?? '');
      return fields[2] === String(group) && state === 'running';
    };
    const pids = names?.filter((name) => /^\d+$/.test(name)).map(Number);
    const found = await Promise.all(pids?.map(isMember) ?? []);
    return pids?.filter((_, index) => found[index]);
  },

  async childrenOf(pid) {
    const threads = await ifShown(readdir(`/proc/${pid}/task`));
    if (threads === undefined) return undefined;
    const lists = await Promise.all(
      threads.map((thread) => ifShown(readFile(`/proc/${pid}/task/${thread}/children`, 'utf8'))),
    );
    return lists.flatMap((list) => list?.match(/\d+/g) ?? []).map(Number);
  },

  environmentOf: async (pid) => (await ifShown(readFile(`/proc/${pid}/environ`, 'utf8')))?.split('\0'),

  workingFolderOf: (pid) => ifShown(readlink(`/proc/${pid}/cwd`)),

  socketTable: (family) => ifPresent(readFile(`/proc/net/${family}`, 'latin1')),

  listenersOf: async () => undefined,

  readParent: '[ -r "/proc/$pid/stat" ] && read -r _ name _ parent _ <"/proc/$pid/stat"',

  openerIn: ({ DISPLAY = '', WAYLAND_DISPLAY = '' }) =>
    DISPLAY === '' && WAYLAND_DISPLAY === '' ? undefined : 'xdg-open',

  notification({ app, title, text, isUrgent }) {
    // Desktops interpret markup in the body, but not in the title.
    const body = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
    const urgency = isUrgent ? 'critical' : 'normal';
    return { file: 'notify-send', args: [`--app-name=${app}`, `--urgency=${urgency}`, '--', title, body] };
  },

  serviceManager: 'systemd',

  mounts: () => parseMounts(ifReadable('/proc/self/mountinfo') ?? ''),
};

function ifReadable(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return undefined;
  }
}

/** Every other kind may be a network disk. */
const localKinds = new Set(
  'apfs bcachefs btrfs cgroup2 devpts devtmpfs erofs exfat ext2 ext3 ext4 f2fs hfs iso9660 jfs mqueue msdos ntfs3 overlay proc ramfs reiserfs rootfs squashfs sysfs tmpfs udf vfat xfs zfs'.split(
    ' ',
  ),
);

export function parseMounts(text: string): Mount[] {
  return text.split('\n').flatMap((line) => {
    const [before = '', after = ''] = line.split(' - ');
    const at = before.split(' ')[4];
    if (at === undefined) return [];
    const name = at.replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
      String.fromCharCode(Number.parseInt(octal, 8)),
    );
    return [{ at: name, isLocal: localKinds.has(after.split(' ')[0] ?? '') }];
  });
}

async function bootTime(): Promise<number> {
  const found = /^btime (\d+)$/m.exec(await readFile('/proc/stat', 'utf8'))?.[1];
  if (found === undefined) throw new Error('/proc/stat does not contain the boot time.');
  return Number(found) * 1000;
}

async function startFromProc(pid: number, bootedAt: number): Promise<ProcessStart> {
  if (!isPid(pid)) return noProcess;
  let text: string;
  try {
    text = await readFile(`/proc/${pid}/stat`, 'utf8');
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === undefined) throw error;
    if (code !== 'ENOENT' && code !== 'ESRCH') return { state: 'unknown', problem: code };
    // The system may hide the processes of other users.
    return processExists(pid) ? { state: 'unknown', problem: 'hidden' } : { state: 'gone' };
  }
  const { state, fields } = statFields(text);
  const ticks = Number(fields[19]);
  if (state === undefined || !Number.isSafeInteger(ticks))
    return { state: 'unknown', problem: `/proc/${pid}/stat has an unknown format` };
  if (state === 'gone') return { state };
  return { state, startedAt: bootedAt + (ticks * 1000) / TICKS_PER_SECOND, mark: String(ticks) };
}

/** The program's name is in parentheses and may itself contain spaces and parentheses; the state follows it. */
function statFields(text: string): { state: 'running' | 'gone' | undefined; fields: string[] } {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  if (fields.length < 3) return { state: undefined, fields };
  // A zombie: ended, and waiting for its parent to collect it.
  return { state: fields[0] === 'Z' || fields[0] === 'X' ? 'gone' : 'running', fields };
}

/** Undefined when the process has ended, or belongs to another user. */
async function ifShown<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return undefined;
  }
}

// macOS. There is no socket table: `netstat` shows the process of a connection, but the process may have ended and another
// user's may have its pid, which is not proof enough to answer a caller.

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 4 * 1024 * 1024;
/** `-ww`: nothing is cut off. */
const PS = ['-ww', ...['pid', 'ppid', 'pgid', 'uid', 'stat', 'lstart'].flatMap((name) => ['-o', `${name}=`])];

/** What a program printed; undefined if it is missing, failed or took too long. */
export type Ask = (program: string, args: readonly string[]) => Promise<string | undefined>;

const askProgram: Ask = async (program, args) => {
  // Loaded late: only some systems need it, and a completion has to be fast.
  const { execFile } = await import('node:child_process');
  const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C', TZ: 'UTC' };
  const options = { env, timeout: TIMEOUT_MS, maxBuffer: MAX_BYTES, killSignal: 'SIGKILL' } as const;
  return new Promise((resolve) => {
    execFile(program, args, options, (error, stdout, stderr) =>
      // `ps` and `lsof` end with 1 if nothing matches.
      resolve(error === null || (error.code === 1 && stderr === '') ? stdout : undefined),
    );
  });
};

export function createMacos(ask: Ask = askProgram): System {
  const processes = async (which: readonly string[]): Promise<PsRow[] | undefined> =>
    parsePs(await ask('ps', [...which, ...PS]));

  const runningWhere = async (matches: (row: PsRow) => boolean): Promise<number[] | undefined> => {
    const rows = await processes(['-A']);
    return rows?.filter((row) => !row.isZombie && matches(row)).map(({ pid }) => pid);
  };

  return {
    /** One call for all: `ps` returns times in whole seconds. */
    async processStarts(pids) {
      const possible = pids.filter(isPid);
      const rows = possible.length === 0 ? [] : await processes(['-p', possible.join(',')]);
      const unknown: ProcessStart = { state: 'unknown', problem: 'ps did not answer as expected' };
      const startOf = (pid: number): ProcessStart =>
        !isPid(pid) ? noProcess : rows === undefined ? unknown : startIn(rows, pid);
      return new Map(pids.map((pid) => [pid, startOf(pid)]));
    },
    groupMembers: (group) => runningWhere(({ pgid }) => pgid === group),
    childrenOf: (pid) => runningWhere(({ ppid }) => ppid === pid),
    // It shows only the variables of some programs, in one line with the arguments.
    environmentOf: async () => undefined,

    async workingFolderOf(pid) {
      const text = await ask('lsof', ['-a', '-p', String(pid), '-d', 'cwd', '-F', 'fn']);
      const folder = /^fcwd\nn(\/.*)$/m.exec(text ?? '')?.[1];
      // Characters that it cannot print are written as \x and digits.
      return folder?.includes('\\') === true ? undefined : folder;
    },

    socketTable: async () => undefined,

    async listenersOf(port) {
      const pids = parseListeners(await ask('netstat', ['-anv', '-p', 'tcp']), port);
      if (pids === undefined || pids.length === 0) return pids;
      const users = (await processes(['-p', pids.join(',')]))?.map(({ uid }) => uid);
      return users?.length === pids.length ? users : undefined;
    },

    readParent:
      'above=$(/bin/ps -o ppid= -o comm= -p "$pid") && parent=$((${above%%[!0-9 ]*})) && name="(${above##*[/ ]})"',
    openerIn: () => 'open',
    // The title comes first and starts with a letter, so it cannot be parsed as an option.
    notification: ({ title, text }) => ({ file: 'osascript', args: [...appleScript, title, text] }),
    serviceManager: 'launchd',
    mounts: () => [],
  };
}

const appleScript = [
  'on run argv',
  'display notification (item 2 of argv) with title (item 1 of argv)',
  'end run',
].flatMap((line) => ['-e', line]);

type PsRow = { pid: number; ppid: number; pgid: number; uid: number; isZombie: boolean; started: string };

/** Undefined unless every line is understood. */
function parsePs(text: string | undefined): PsRow[] | undefined {
  const rows = text
    ?.split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, pid, ppid, pgid, uid, state = '', started = ''] =
        /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(-?\d+)\s+(\S+)\s+(.+?)\s*$/.exec(line) ?? [];
      return {
        pid: Number(pid),
        ppid: Number(ppid),
        pgid: Number(pgid),
        uid: Number(uid),
        isZombie: state.startsWith('Z'),
        started,
      };
    });
  return rows?.some(({ pid }) => Number.isNaN(pid)) === true ? undefined : rows;
}

function startIn(rows: readonly PsRow[], wanted: number): ProcessStart {
  const row = rows.find(({ pid }) => pid === wanted);
  if (row === undefined || row.isZombie) return { state: 'gone' };
  const startedAt = Date.parse(`${row.started} UTC`);
  return Number.isNaN(startedAt)
    ? { state: 'unknown', problem: 'ps returned no time' }
    : { state: 'running', startedAt, mark: row.started };
}

/**
 * The processes that listen on a port of 127.0.0.1; undefined for an unknown format. Before macOS 26 the process is in the
 * column `pid`, and since then in `process:pid`, whose name may contain spaces.
 */
function parseListeners(text: string | undefined, port: number): number[] | undefined {
  const lines = text?.split('\n') ?? [];
  const header = lines.find((line) => line.startsWith('Proto '));
  if (header === undefined) return undefined;
  // Both addresses have a space in the header only.
  const column = header.trim().split(/ +/).indexOf('pid') - 2;
  const pids = lines
    .filter((line) => new RegExp(`^tcp4 +\\d+ +\\d+ +127\\.0\\.0\\.1\\.${port} .* LISTEN `).test(line))
    .map((line) => Number(/:(\d+) +[\da-f]{5} /.exec(line)?.[1] ?? line.split(/ +/)[column]));
  return pids.every((pid) => Number.isSafeInteger(pid) && pid > 0) ? [...new Set(pids)] : undefined;
}

/** The system that this program runs on. Others have at most `ps`, and no desktop or service manager that we know. */
export const system: System =
  process.platform === 'linux'
    ? linux
    : process.platform === 'darwin'
      ? createMacos()
      : {
          ...createMacos(),
          openerIn: linux.openerIn,
          notification: () => undefined,
          serviceManager: undefined,
        };
