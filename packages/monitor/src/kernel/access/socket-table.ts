// Reads the kernel's socket table, and finds the user behind a connection or a listening port of this machine.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { endianness } from 'node:os';
import { type System, system } from '@svc/lib/system';
import {
  type CallerRefusal,
  findCallers,
  findListener,
  hasBothEnds,
  OVERFLOW_UID,
  refuseCaller,
} from './socket-entries.ts';

export type ReadSocketTable = System['socketTable'];

const LITTLE_ENDIAN = endianness() === 'LE';

/** The users who listen on a port of 127.0.0.1; undefined on systems that cannot report it. */
export async function listenersOf(port: number): Promise<number[] | undefined> {
  const tcp = await system.socketTable('tcp');
  if (tcp === undefined) return system.listenersOf(port);
  const listener = findListener(tcp, port, LITTLE_ENDIAN);
  return listener === undefined ? [] : [listener.uid];
}

/** Why a caller is refused: by the rule, or because it cannot be identified. */
type UnknownCaller = CallerRefusal | 'gone' | 'table-unreadable';

export type Callers = { refuse: (socket: Socket) => Promise<UnknownCaller | undefined> };

/**
 * Determines who is behind connections. Reading costs more the more sockets the machine has: one read serves all
 * connections that are waiting when it starts.
 */
export function createCallers({ read, uid }: { read: ReadSocketTable; uid: number }): Callers {
  let waiting: { socket: Socket; judged: (refusal: UnknownCaller | undefined) => void }[] = [];
  let isReading = false;

  async function readForAll(): Promise<void> {
    isReading = true;
    while (waiting.length > 0) {
      const asked = waiting;
      waiting = [];
      const refusals = await judge(asked.map(({ socket }) => socket));
      asked.forEach(({ judged }, index) => judged(refusals[index]));
    }
    isReading = false;
  }

  async function judge(sockets: readonly Socket[]): Promise<(UnknownCaller | undefined)[]> {
    const table = await tableFor(sockets).catch(() => undefined);
    if (table === undefined) return sockets.map(() => 'table-unreadable');
    const connections = sockets.map(connectionOf);
    const found = findCallers(
      table,
      connections.filter((connection) => connection !== undefined),
      LITTLE_ENDIAN,
    ).values();
    return connections.map((connection) =>
      connection === undefined ? 'gone' : refuseCaller(found.next().value, uid),
    );
  }

  async function tableFor(sockets: readonly Socket[]) {
    const tcp = await read('tcp');
    if (tcp === undefined) return undefined;
    const own = sockets.map(ownEndOf).filter((end) => end !== undefined);
    return { tcp, tcp6: hasBothEnds(tcp, own, LITTLE_ENDIAN) ? '' : ((await read('tcp6')) ?? '') };
  }

  return {
    refuse: (socket) =>
      new Promise((judged) => {
        waiting.push({ socket, judged });
        if (!isReading) void readForAll();
      }),
  };
}

/**
 * Undefined for a connection that has ended. It is called after the table was read, and Node asks the kernel for the
 * other end on first access: an address means that the connection was open all the time, so no other process can have
 * had its ports.
 */
function connectionOf(socket: Socket) {
  const { remoteAddress, remotePort } = socket;
  const own = ownEndOf(socket);
  if (remoteAddress === undefined || remotePort === undefined || own === undefined) return undefined;
  return { own, other: { address: remoteAddress, port: remotePort } };
}

function ownEndOf({ localAddress, localPort }: Socket) {
  if (localAddress === undefined || localPort === undefined) return undefined;
  return { address: localAddress, port: localPort };
}

/** Whether the table identifies users here: our own connection is listed as ours. */
export async function tableTellsUsers({
  read,
  uid,
}: {
  read: ReadSocketTable;
  uid: number;
}): Promise<boolean> {
  if (uid === OVERFLOW_UID) return false;
  const server = createServer();
  try {
    return await new Promise<boolean>((resolve) => {
      const no = (): void => resolve(false);
      server.on('error', no);
      server.on('connection', (socket) => {
        const refused = createCallers({ read, uid }).refuse(socket);
        void refused.then((why) => resolve(why === undefined)).finally(() => socket.destroy());
      });
      server.listen(0, '127.0.0.1', () => {
        const { port } = server.address() as AddressInfo;
        connect(port, '127.0.0.1').on('error', no).resume();
      });
    });
  } finally {
    server.close();
  }
}
