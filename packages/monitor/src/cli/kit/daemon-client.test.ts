import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { temporaryFolder } from '@svc/testkit';
import { describe, expect, onTestFinished, test } from 'vitest';
import { daemonAt } from './daemon-client.ts';

async function serve(answer: RequestListener) {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const refusing =
  (status: number, body: object): RequestListener =>
  (_request, response) =>
    void response.writeHead(status).end(JSON.stringify(body));

describe('an error of the daemon is the failure that it names', () => {
  test.each([
    [
      404,
      { error: 'Nobody knows it.', code: 'unknown-ticket', remedy: 'See: svc board' },
      'unknown-ticket',
      1,
    ],
    [400, { error: 'No.', code: 'bad-request' }, 'usage', 2],
    [418, { error: 'No.', code: 'of-a-later-version' }, 'daemon-refused', 6],
  ])('%i', async (status, body, code, exitCode) => {
    const { url } = await serve(refusing(status, body));
    await expect(daemonAt({ dataDir: temporaryFolder() }, url).get('/api/health')).rejects.toMatchObject({
      code,
      exitCode,
      message: body.error,
      remedy: 'remedy' in body ? body.remedy : undefined,
    });
  });
});

test('a daemon that stops during a call is not a bug', async () => {
  const { url } = await serve((request) => void request.socket.destroy());
  await expect(
    daemonAt({ dataDir: temporaryFolder() }, url).post('/api/events/reindex'),
  ).rejects.toMatchObject({
    code: 'daemon-needed',
    remedy: 'Start it: svc monitor start',
  });
});

test('a daemon that does not answer in time is reported as such', async () => {
  const { url } = await serve(() => undefined);
  await expect(daemonAt({ dataDir: temporaryFolder() }, url, 100).get('/api/feeds')).rejects.toMatchObject({
    code: 'not-answering',
    message: 'The daemon did not answer within 0.1 s.',
  });
});
