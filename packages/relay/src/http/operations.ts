// For whoever runs the relay: is it alive, is it ready, what are its figures.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Spill } from '../channels/spill.ts';
import { privateNetworks } from '../limits/networks.ts';
import { answerJson, refuse } from './answer.ts';
import { addressOf, type RelayParts } from './relay-parts.ts';

export function createOperations(
  { engine, spill, settings, metrics }: RelayParts,
  isStopping: () => boolean,
) {
  return {
    /** The process answers. */
    alive(response: ServerResponse): void {
      answerJson(response, 200, JSON.stringify({ ok: true, version: settings.version }));
    },

    /** A balancer may send requests here. */
    ready(response: ServerResponse): void {
      const { connected, server, since, reason, streams, behind } = engine.health();
      const ready = connected && !isStopping();
      const body = {
        ok: ready,
        engine: { connected, server, since: new Date(since).toISOString(), streams, behind },
        ...(spill !== null && { spill: spillIn(spill) }),
        ...(!ready && { reason: isStopping() ? 'the relay is stopping' : (reason ?? 'not connected') }),
      };
      answerJson(response, ready ? 200 : 503, JSON.stringify(body), ready ? [] : ['Retry-After', '5']);
    },

    /** Through a proxy that nobody vouches for, any address would look like a local one. */
    async metrics(request: IncomingMessage, response: ServerResponse): Promise<void> {
      const address = addressOf(request, settings);
      const unknownProxy =
        request.headers['x-forwarded-for'] !== undefined &&
        !settings.trustedProxies.has(request.socket.remoteAddress ?? '');
      if (unknownProxy || !privateNetworks.has(address))
        return refuse(request, response, 'metrics-are-local');
      const text = await metrics.registry.metrics();
      response.writeHead(200, [
        'Content-Type',
        metrics.registry.contentType,
        'Content-Length',
        String(Buffer.byteLength(text)),
      ]);
      response.end(text);
    },
  };
}

function spillIn(spill: Spill) {
  const { waiting, bytes, oldestAt, refusing } = spill.state();
  return { waiting, bytes, oldest: oldestAt === null ? null : new Date(oldestAt).toISOString(), refusing };
}
