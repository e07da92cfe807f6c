// A way to the daemon that breaks: every connection is cut after some seconds, in the middle of whatever it carries.
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net';

export type CuttingProxy = {
  url: string;
  /** Until then it is a good way: a page that never loads has nothing to show. */
  begin: (everyMs: number) => void;
  /** How often it has cut so far. */
  cuts: () => number;
  close: () => Promise<void>;
};

/** From `begin` on it cuts all connections at once, every `everyMs`. */
export async function startCuttingProxy(port: number): Promise<CuttingProxy> {
  const open = new Set<Socket>();
  let cuts = 0;
  const server = createServer((incoming) => {
    const outgoing = createConnection({ port, host: '127.0.0.1' });
    for (const socket of [incoming, outgoing]) {
      open.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        open.delete(socket);
        incoming.destroy();
        outgoing.destroy();
      });
    }
    incoming.pipe(outgoing);
    outgoing.pipe(incoming);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  let timer: NodeJS.Timeout | undefined;
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    begin(everyMs) {
      timer = setInterval(() => {
        cuts += open.size > 0 ? 1 : 0;
        for (const socket of open) socket.destroy();
      }, everyMs);
    },
    cuts: () => cuts,
    close: () =>
      new Promise((resolve) => {
        clearInterval(timer);
        for (const socket of open) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
