import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { type LoopbackProxy, startLoopbackProxy } from './loopback-proxy.ts';

/** Sends its name, and then echoes everything. */
async function echo(name: string): Promise<number> {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => undefined);
    socket.write(name);
    socket.pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function proxyTo(...targets: number[]): Promise<LoopbackProxy> {
  const proxy = await startLoopbackProxy(() => targets);
  onTestFinished(() => proxy.stop());
  return proxy;
}

function client(port: number) {
  const socket = connect(port, '127.0.0.1');
  const state = { text: '', ended: false, socket };
  socket.on('data', (chunk) => (state.text += chunk.toString()));
  socket.on('error', () => undefined);
  socket.on('close', () => (state.ended = true));
  onTestFinished(() => void socket.destroy());
  return state;
}

test('it uses its targets in turn, and skips one that refuses', async () => {
  const gone = createServer();
  await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve));
  const refusing = (gone.address() as AddressInfo).port;
  await new Promise((resolve) => gone.close(resolve));
  const proxy = await proxyTo(await echo('a'), refusing, await echo('b'));
  const clients = [client(proxy.port), client(proxy.port), client(proxy.port)];
  await expect.poll(() => clients.map(({ text }) => text).join('')).toHaveLength(3);
  expect(new Set(clients.map(({ text }) => text))).toEqual(new Set(['a', 'b']));
});

test('a cut closes open connections, and the next one works', async () => {
  const proxy = await proxyTo(await echo('a'));
  const first = client(proxy.port);
  await expect.poll(() => first.text).toBe('a');
  proxy.cut();
  await expect.poll(() => first.ended).toBe(true);
  const second = client(proxy.port);
  second.socket.write('hello');
  await expect.poll(() => second.text).toBe('ahello');
});

test('closed, it accepts no connection until it is restored', async () => {
  const proxy = await proxyTo(await echo('a'));
  proxy.close();
  const refused = client(proxy.port);
  await expect.poll(() => refused.ended).toBe(true);
  expect(refused.text).toBe('');
  proxy.restore();
  const next = client(proxy.port);
  await expect.poll(() => next.text).toBe('a');
});

test('frozen, connections stay open without data; restoring closes them', async () => {
  const target = await echo('a');
  const proxy = await proxyTo(target);
  const before = client(proxy.port);
  await expect.poll(() => before.text).toBe('a');
  proxy.freeze();
  const during = client(proxy.port);
  before.socket.write('lost');
  await expect.poll(proxy.connections).toBe(2);
  // The target itself still answers.
  const direct = client(target);
  for (let heard = 'a'; heard.length < 10; heard += 'x') {
    await expect.poll(() => direct.text).toBe(heard);
    direct.socket.write('x');
  }
  expect([before.text, before.ended, during.text, during.ended]).toEqual(['a', false, '', false]);
  proxy.restore();
  await expect.poll(() => before.ended && during.ended).toBe(true);
  expect(before.text).toBe('a');
});
