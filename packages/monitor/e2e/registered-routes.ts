// Every route that the daemon registers, as its server lists them; there is nothing behind them here.
import Fastify from 'fastify';
import { daemonRoutes } from '../src/daemon/routes.ts';
import { openFeatures } from '../src/features/parts.ts';

export async function registeredRoutes(): Promise<{ method: string; url: string }[]> {
  const anything: unknown = new Proxy(() => anything, {
    get: (_target, key) => (key === 'then' ? undefined : anything),
  });
  const opened = openFeatures.map((open) => open(anything as Parameters<typeof open>[0]));
  const parts = new Proxy({}, { get: (_target, key) => (key === 'opened' ? opened : anything) });
  const found: { method: string; url: string }[] = [];
  const app = Fastify({ exposeHeadRoutes: false });
  app.addHook('onRoute', ({ method, url }) => {
    for (const one of [method].flat()) found.push({ method: one, url });
  });
  for (const routes of daemonRoutes(parts as Parameters<typeof daemonRoutes>[0]))
    app.register(async (scope) => routes(scope));
  await app.ready();
  await app.close();
  return found;
}
