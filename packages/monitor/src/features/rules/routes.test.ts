import { request } from 'node:http';
import { until } from '@svc/testkit';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { createHttpServer } from '../../kernel/http/server.ts';
import { allowEveryone } from '../../kernel/http/testing/allow-everyone.ts';
import { rulesRoutes } from './routes.ts';

test('a client that disconnects ends the test of its rules, which is not a failure of the daemon', async () => {
  const logged: string[] = [];
  let isUnderWay = false;
  let isEnded = false;
  const server = createHttpServer({
    logger: pino({ level: 'info' }, { write: (line: string) => void logged.push(line) }),
    access: allowEveryone,
    show: () => false,
    onAnswer: () => undefined,
    routes: [
      rulesRoutes({
        list: () => ({ rules: [], problems: [] }) as never,
        now: () => 0,
        test: (_asked, signal) =>
          new Promise((_resolve, reject) => {
            isUnderWay = true;
            signal.addEventListener('abort', () => {
              isEnded = true;
              reject(signal.reason as Error);
            });
          }),
      }),
    ],
  });
  onTestFinished(() => server.close());
  const port = await server.listen(0);
  const sent = request({ host: '127.0.0.1', port, path: '/api/rules/test', method: 'POST' });
  sent.on('error', () => undefined);
  sent.setHeader('Content-Type', 'application/json').end('{}');
  await until(() => isUnderWay);
  sent.destroy();
  await until(() => isEnded);
  expect((await fetch(`http://127.0.0.1:${port}/api/rules`)).status).toBe(200);
  expect(logged).toEqual([]);
});
