// The outside world of chaos/outbox.ts: a tracker that remembers every move of a ticket, in order. It stands in
// the process that does the killing, so that it outlives the killed.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { isUnknownTicket } from './outbox-fold.ts';

export type ChaosTracker = {
  url: string;
  /** Keys of the effects that changed a ticket, in the order of the changes. */
  moves: Map<string, string[]>;
  counts: {
    asked: number;
    /** Effects that came again after their result was there: harmless when nothing changed by it. */
    again: number;
    refused: number;
  };
  close: () => void;
};

/** Every so many-th new effect is refused once. */
const REFUSE_EVERY = 6;

export async function startChaosTracker(): Promise<ChaosTracker> {
  const moves = new Map<string, string[]>();
  const states = new Map<string, string>();
  const counts = { asked: 0, again: 0, refused: 0 };
  const seen = new Set<string>();

  /** The status to answer with. `add` is the sabotage: a move that is carried out whatever the state is. */
  function set(ticket: string, { key, phase, add }: { key: string; phase: string; add: boolean }): number {
    counts.asked += 1;
    if (isUnknownTicket(ticket)) return 404;
    const isNew = !seen.has(key);
    seen.add(key);
    if (isNew && seen.size % REFUSE_EVERY === 0) {
      counts.refused += 1;
      return 503;
    }
    const before = moves.get(ticket) ?? [];
    if (before.includes(key)) counts.again += 1;
    if (states.get(ticket) === phase && !add) return 200;
    states.set(ticket, phase);
    moves.set(ticket, [...before, key]);
    return 200;
  }

  const server = createServer((request, response) => {
    void text(request).then(
      (body) => {
        const status = set(decodeURIComponent(request.url ?? '').slice(1), JSON.parse(body));
        return response.writeHead(status).end();
      },
      // The sender was killed while it sent: nothing was asked.
      () => response.destroy(),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    moves,
    counts,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
