import { api } from '@svc/core';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { passedOn } from './refuse-unknown-query.ts';
import { createHttpServer } from './server.ts';
import { answersEverybody } from './testing/answers-everybody.ts';

const described = Object.values(api).filter(
  ({ path }) => path.startsWith('/api/') && !path.startsWith('/api/webhook') && !passedOn.has(path),
);

/** Every described route, answered with what it was asked. */
async function everyRoute(): Promise<string> {
  const server = createHttpServer({
    logger: pino({ level: 'silent' }),
    access: answersEverybody,
    show: () => false,
    onAnswer: () => undefined,
    routes: [
      (app, _options, done) => {
        for (const { method, path } of described)
          app.route({
            method,
            url: path.replaceAll(/\{(\w+)\}/g, ':$1'),
            handler: async () => ({ ok: true }),
          });
        done();
      },
    ],
  });
  const port = await server.listen(0);
  onTestFinished(() => server.close());
  return `http://127.0.0.1:${port}`;
}

test('a query field that a route does not have is refused, on every route', async () => {
  const url = await everyRoute();
  for (const { method, path } of described) {
    const address = `${url}${path.replaceAll(/\{\w+\}/g, 'x')}`;
    const plain = await fetch(address, { method });
    expect([plain.status, await plain.json()], path).toEqual([200, { ok: true }]);
    const refused = await fetch(`${address}?verbos=1`, { method });
    expect(refused.status, path).toBe(400);
    expect(await refused.json(), path).toMatchObject({
      code: 'usage',
      error: expect.stringContaining('There is no "verbos"'),
    });
  }
});

test('the ones that it has are let through, by HEAD too', async () => {
  const url = await everyRoute();
  expect((await fetch(`${url}/api/board?at=1h`)).status).toBe(200);
  expect((await fetch(`${url}/api/board?at=1h`, { method: 'HEAD' })).status).toBe(200);
  expect((await fetch(`${url}/api/board?when=1h`, { method: 'HEAD' })).status).toBe(400);
});
