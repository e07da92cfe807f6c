// The reports and questions of hooks in agents that people start.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { hookTokenFile, readHookToken } from '../../kernel/access/token-file.ts';
import { Failure } from '../../kernel/failure.ts';
import { type Routes, route, whileClientWaits } from '../../kernel/http/route.ts';
import { api } from '../api.ts';
import type { HookSessions } from './io/sessions.ts';

/**
 * Reports and questions of the hooks in agents' settings, and what people answer. The token of the hooks is read each
 * time, so a new one counts at once; it gives no answers.
 */
export function hookRoutes({ sessions, dataDir }: { sessions: HookSessions; dataDir: string }): Routes {
  const onRequest = async ({ headers }: FastifyRequest): Promise<void> => {
    const token = readHookToken(dataDir);
    if (token !== undefined && isSame(token, String(headers['x-svc-hook-token']))) return;
    throw new Failure(
      'wrong-hook-token',
      'The token of the hook is not the one of this daemon.',
      `Hooks read it from ${hookTokenFile(dataDir)}. Write everything again: svc hooks install <agent>`,
    );
  };
  return (app) => {
    route(
      app,
      api.reportHook,
      async ({ body }) => {
        await sessions.take(body);
        return { ok: true as const };
      },
      { onRequest },
    );
    route(
      app,
      api.askByHook,
      ({ body }, reply) =>
        whileClientWaits(reply, async (signal) => ({ answer: await sessions.ask(body, signal) })),
      { onRequest },
    );
    route(app, api.answerSession, async ({ body }) => {
      await sessions.answer(body);
      return { ok: true as const, answered: body.answer };
    });
  };
}

/** Takes the same time wherever they differ. */
function isSame(one: string, other: string): boolean {
  return timingSafeEqual(digest(one), digest(other));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
