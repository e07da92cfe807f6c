// Making channels. `POST /new` makes one with a read key, which is shown only once; with `{"open": true}` one that anyone
// with its address can read. `GET|HEAD /new` is for clients of the public relay: they never send a key, so it makes open
// channels, and only if the operator allows them.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createByteBudget, readBody } from '@svc/lib/read-body';
import { newChannelId } from '../protocol/frame.ts';
import { answerJson, type RefusalCode, refuse } from './answer.ts';
import { bringsKey, hashOfKey, newKey } from './read-access.ts';
import { limitKeyOf, originOf, type RelayParts } from './relay-parts.ts';

const MAX_OPTIONS_BYTES = 4096;
/** 32 bytes. */
const ed25519Form = /^[A-Za-z0-9_-]{43}$/;

export function createNewChannel(parts: RelayParts) {
  const { engine, limits, settings, logger, metrics, now } = parts;

  function refusal(request: IncomingMessage): { code: RefusalCode; waitMs?: number } | undefined {
    if (settings.createKeyHash !== null && !bringsKey(request, settings.createKeyHash))
      return { code: 'create-key-needed' };
    const key = limitKeyOf(request, settings);
    const waitMs = limits.request(key, now()) || limits.newChannel(key, now());
    return waitMs > 0 ? { code: 'rate-limited', waitMs } : undefined;
  }

  async function make(readKey: string | null, admin?: string): Promise<string> {
    const id = newChannelId();
    await engine.createChannel({
      id,
      readKeyHash: readKey === null ? null : hashOfKey(readKey),
      createdAt: now(),
      ...(admin !== undefined && { admin }),
    });
    const kind = admin !== undefined ? 'team' : readKey === null ? 'open' : 'keyed';
    metrics.created.add({ kind });
    logger.info({ kind }, 'a channel was made');
    return id;
  }

  return {
    async redirect(request: IncomingMessage, response: ServerResponse): Promise<void> {
      if (!settings.openChannels) return refuse(request, response, 'open-channels-off');
      const refused = refusal(request);
      if (refused !== undefined) return refuse(request, response, refused.code, refused.waitMs);
      const id = await make(null);
      response.writeHead(307, [
        'Location',
        `${originOf(request, settings)}/${id}`,
        'Content-Length',
        '0',
        'Cache-Control',
        'no-store',
      ]);
      response.end();
    },

    async create(request: IncomingMessage, response: ServerResponse): Promise<void> {
      const refused = refusal(request);
      if (refused !== undefined) return refuse(request, response, refused.code, refused.waitMs);
      const body = await readBody(request, MAX_OPTIONS_BYTES, createByteBudget(MAX_OPTIONS_BYTES));
      const options = typeof body === 'string' ? undefined : optionsIn(body.toString());
      if (options === undefined) return refuse(request, response, 'bad-request');
      const readKey = options.open ? null : newKey();
      const id = await make(readKey, options.team);
      const url = `${originOf(request, settings)}/${id}`;
      answerJson(response, 201, JSON.stringify({ channel: id, writeUrl: url, readUrl: url, readKey }));
    },
  };
}

/**
 * `{}`, nothing, `{"readKey": true}`, `{"open": true}` and `{"team": "<public key>"}` are valid. Neither key nor open is a
 * contradiction.
 */
function optionsIn(text: string): { open: boolean; team?: string } | undefined {
  if (text.trim() === '') return { open: false };
  const value = parsed(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const { open = false, readKey = !isTrue(open), team } = value as Record<string, unknown>;
  if (typeof open !== 'boolean' || typeof readKey !== 'boolean' || open === readKey) return undefined;
  if (team === undefined) return { open };
  return typeof team === 'string' && ed25519Form.test(team) && !open ? { open, team } : undefined;
}

function isTrue(value: unknown): boolean {
  return value === true;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
