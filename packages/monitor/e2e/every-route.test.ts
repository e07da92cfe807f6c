// Checks the response of every route of the daemon: JSON, except for the two that are documented otherwise.
import { expect, test } from 'vitest';
import { startInProcess } from './in-process-daemon.ts';
import { registeredRoutes } from './registered-routes.ts';

const stated: Record<string, string> = {
  'GET /metrics': 'text/plain',
  'GET /api/events/stream': 'text/event-stream',
};

test('every route answers under the one address, in JSON unless stated, also when it refuses', async () => {
  const daemon = await startInProcess({ environment: { SVC_WEBHOOK_SECRET: 'x'.repeat(64) } });
  const receivers = ['/api/webhook', '/api/webhook/tracker', '/api/webhook/linear'];
  const routes = [...(await registeredRoutes()), ...receivers.map((url) => ({ method: 'POST', url }))];
  expect(routes.length).toBeGreaterThan(40);
  for (const { method, url } of routes) {
    const name = `${method} ${url}`;
    const response = await fetch(daemon.url + url.replaceAll(/:\w+/g, 'nobody'), {
      method,
      ...(method !== 'GET' && { body: '{}', headers: { 'Content-Type': 'application/json' } }),
    });
    const type = response.headers.get('content-type') ?? '';
    const wanted = (response.ok ? stated[name] : undefined) ?? 'application/json';
    expect(type.split(';')[0], name).toBe(wanted);
    if (wanted === 'text/event-stream') {
      await response.body?.cancel();
      continue;
    }
    const text = await response.text();
    if (wanted !== 'application/json') continue;
    expect(() => JSON.parse(text), `${name}: ${text}`).not.toThrow();
    expect(text, name).not.toContain('no-such-route');
    if (!response.ok) expect(JSON.parse(text), name).toMatchObject({ error: expect.any(String) });
  }
});

test('a body that is not JSON is refused, in JSON; what is switched off reports that first', async () => {
  const daemon = await startInProcess();
  for (const { method, url } of await registeredRoutes()) {
    if (method !== 'POST') continue;
    const headers = { 'Content-Type': 'application/json' };
    const answer = await daemon.post(url.replaceAll(/:\w+/g, 'nobody'), 'not json', headers);
    // A hook without its token is not read.
    expect(url.startsWith('/api/hooks/') ? [401] : [400, 503], url).toContain(answer.status);
    expect(answer.body, url).toMatchObject({ error: expect.any(String) });
    expect(answer.headers.get('content-type'), url).toContain('application/json');
  }
});
