// A proxy to the daemon that fails on request: all connections are cut at once, and new ones wait until it is restored.
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net';

export type CuttingProxy = {
  url: string;
  /** Whether the event stream is connected through it. */
  carriesStream: () => boolean;
  cut: () => void;
  restore: () => void;
  close: () => Promise<void>;
};

/** Connected until it is cut, so the page can load. */
export async function startCuttingProxy(port: number): Promise<CuttingProxy> {
  const open = new Set<Socket>();
  const streams = new Set<Socket>();
  let waiting: (() => void)[] | undefined;

  function connect(incoming: Socket): void {
    const outgoing = createConnection({ port, host: '127.0.0.1' });
    keep(outgoing, incoming);
    incoming.on('close', () => outgoing.destroy());
    incoming.on('data', (chunk) => {
      if (chunk.includes('GET /api/events/stream')) streams.add(incoming);
    });
    incoming.pipe(outgoing);
    outgoing.pipe(incoming);
  }

  function keep(socket: Socket, other?: Socket): void {
    open.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      open.delete(socket);
      streams.delete(socket);
      other?.destroy();
    });
  }

  const server = createServer((incoming) => {
    keep(incoming);
    if (waiting === undefined) connect(incoming);
    else waiting.push(() => connect(incoming));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const cutAll = (): void => {
    for (const socket of open) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    carriesStream: () => streams.size > 0,
    cut() {
      waiting ??= [];
      cutAll();
    },
    restore() {
      const held = waiting ?? [];
      waiting = undefined;
      for (const connectHeld of held) connectHeld();
    },
    close: () =>
      new Promise((resolve) => {
        cutAll();
        server.close(() => resolve());
      }),
  };
}
