// A connection between two processes that can be disturbed: connections are cut, or stay open without data. Every new
// connection goes to the next target in turn, as behind a load balancer; one that refuses is skipped.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type LoopbackProxy = {
  port: number;
  /** Closes every current connection, at both ends. */
  cut: () => void;
  /** Cuts, and refuses new connections until `restore`. */
  close: () => void;
  /** Connections stay open, but pass on neither bytes nor an end; new ones are accepted and ignored. */
  freeze: () => void;
  /** Closes frozen connections; new ones work. Held-back data is lost with its connection. */
  restore: () => void;
  connections: () => number;
  stop: () => Promise<void>;
};

type Pair = { near: Socket; far: Socket | undefined };

export async function startLoopbackProxy(targets: () => readonly number[]): Promise<LoopbackProxy> {
  const pairs = new Set<Pair>();
  let isFrozen = false;
  let isClosed = false;
  let turn = 0;

  const server = createServer({ allowHalfOpen: true, noDelay: true }, (near) => {
    const pair: Pair = { near, far: undefined };
    pairs.add(pair);
    near.on('error', () => undefined);
    near.on('close', () => {
      pairs.delete(pair);
      if (!isFrozen) pair.far?.destroy();
    });
    if (isClosed) return near.resetAndDestroy();
    if (isFrozen) return void near.pause();
    const list = targets();
    turn += 1;
    dial(pair, [...list.slice(turn % list.length), ...list.slice(0, turn % list.length)]);
  });

  function dial(pair: Pair, [target, ...others]: readonly number[]): void {
    if (target === undefined || pair.near.destroyed) return void pair.near.destroy();
    const far = connect({ port: target, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    pair.far = far;
    let connected = false;
    far.on('connect', () => {
      connected = true;
      pass(pair.near, far);
      pass(far, pair.near);
      if (isFrozen) freezePair(pair);
    });
    // A reset or a refusal is treated like any end.
    far.on('error', () => undefined);
    far.on('close', () => {
      if (!connected) return dial(pair, others);
      if (!isFrozen) pair.near.destroy();
    });
  }

  /** Not by `pipe`, because a frozen pair must not pass on an end. */
  function pass(from: Socket, to: Socket): void {
    from.on('data', (chunk: Buffer) => {
      if (!to.write(chunk)) {
        from.pause();
        to.once('drain', () => (isFrozen ? undefined : from.resume()));
      }
    });
    from.on('end', () => {
      if (!isFrozen) to.end();
    });
  }

  function freezePair({ near, far }: Pair): void {
    near.pause();
    far?.pause();
  }

  function cut(): void {
    for (const { near, far } of pairs) {
      near.destroy();
      far?.destroy();
    }
    pairs.clear();
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    close() {
      isClosed = true;
      cut();
    },
    freeze() {
      isFrozen = true;
      for (const pair of pairs) freezePair(pair);
    },
    restore() {
      if (isFrozen) cut();
      isFrozen = false;
      isClosed = false;
    },
    connections: () => pairs.size,
    async stop() {
      isClosed = true;
      cut();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
