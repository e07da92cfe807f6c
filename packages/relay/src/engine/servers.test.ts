import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { natsForTest, until } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { demandVersion, openConnection, serverWarnings } from './connection.ts';

test.each(['2.14.6', '2.14.10', '2.15.0', '2.15.1-preview.1', '3.0.0'])('%s is new enough', (version) => {
  expect(() => demandVersion(version)).not.toThrow();
});

test.each(['2.14.5', '2.9.10', '2.11.3', '1.99.99', '', 'next', undefined])(
  '%s is refused, with the reasons',
  (version) => {
    expect(() => demandVersion(version)).toThrow(/2\.14\.6.*#8475.*#8312.*#8265/);
  },
);

test('a single server that is new enough gets no warning, whether or not the login may ask', async () => {
  const { url } = await natsForTest();
  const connection = await openConnection({ servers: [url] }, 'test');
  expect(await serverWarnings(connection.nats)).toEqual([]);
  await connection.close();
});

test('what could not be asked because the connection broke is reported as not known', async () => {
  const server = await natsForTest();
  const connection = await openConnection({ servers: [server.url] }, 'test');
  onTestFinished(() => connection.close());
  await server.stop();
  await until(() => connection.nats.info === undefined);
  expect(await serverWarnings(connection.nats)).toEqual([expect.stringContaining('it is not known whether')]);
});

test('a connection stays with a server that answers late, once no other answers sooner', async () => {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.write('INFO {"server_id":"late","version":"2.15.1","max_payload":1048576,"headers":true}\r\n');
    socket.on('data', (bytes) => {
      for (const _ of bytes.toString().matchAll(/^PING\r$/gm))
        setTimeout(() => socket.writable && socket.write('PONG\r\n'), 1500);
    });
    socket.on('error', () => undefined);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const connection = await openConnection({ servers: [`nats://127.0.0.1:${port}`] }, 'test');
  onTestFinished(() => connection.close());
  await connection.checkAlive();
  await until(() => connections === 2);
  await until(async () => {
    await until(() => connection.state().connected);
    const before = connections;
    await connection.checkAlive();
    await connection.nats.flush();
    return connections === before;
  });
});
