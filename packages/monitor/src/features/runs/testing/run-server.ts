// The run routes on a real server, over a board that a test fills; appended events are folded as in the daemon.
import { realpathSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import { createHttpServer } from '../../../kernel/http/server.ts';
import { allowEveryone } from '../../../kernel/http/testing/allow-everyone.ts';
import type { EventDraft } from '../../../kernel/log/event-line.ts';
import { boardRoutes } from '../../board/routes.ts';
import type { AskServices } from '../io/ask-services.ts';
import type { AskDependencies } from '../io/begin-run.ts';
import type { Hold } from '../io/orchestrator.ts';
import { runRoutes } from '../routes.ts';
import { RUN, type RunWorld } from './run-world.ts';

export async function startRunServer(
  world: RunWorld,
  given: {
    identity?: (port: number) => object;
    ready?: () => boolean;
    dependenciesOf?: AskDependencies;
    askServices?: AskServices;
    /** Folders of projects besides the world's own. */
    served?: readonly string[];
  } = {},
) {
  const holds: Hold[] = [];
  const state = {
    board: () => world.board,
    reached: async () => undefined,
    progress: () => ({ ready: given.ready?.() ?? true, seq: 12, logSeq: 99 }),
  };
  const append = async (draft: EventDraft): Promise<{ seq: number }> => {
    await world.append(draft);
    return { seq: world.board.seq };
  };
  let port = 0;
  const server = createHttpServer({
    logger: world.logger,
    access: allowEveryone,
    show(request, response) {
      if (request.url !== '/api/health') return false;
      response.end(JSON.stringify(given.identity?.(port) ?? {}));
      return true;
    },
    onAnswer: () => undefined,
    routes: [
      boardRoutes({
        state,
        boardAt: async () => world.board,
        instanceId: 'instance-1',
        person: () => undefined,
        now: () => world.now().getTime(),
      }),
      runRoutes({
        ...world,
        state,
        append,
        served: async () => [world.root, ...(given.served ?? [])],
        folderOf: (ticket) => (ticket.startsWith('ABC-') ? world.root : undefined),
        dependenciesOf:
          given.dependenciesOf ?? (() => Promise.reject(new Error('the tracker was asked for nothing'))),
        askServices: given.askServices ?? (async () => ({ missing: [], notes: [] })),
        orchestrator: { holds: (run) => (run === RUN ? holds : []), checkNow: async () => undefined },
        async sync({ orchestrator, ticket }) {
          const read = await world.signals.read(orchestrator, ticket);
          if (read.state === 'ok') world.report(read.signal);
        },
      }),
    ],
  });
  onTestFinished(() => server.close());
  port = await server.listen(0);
  const ask = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      ...(body !== undefined && {
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  return {
    port,
    holds,
    project: realpathSync(world.root),
    get: (path: string) => ask('GET', path),
    post: (path: string, body?: unknown) => ask('POST', path, body),
  };
}
