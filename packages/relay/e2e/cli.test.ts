// The command line as a user sees it.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { natsForTest } from '@svc/testkit';
import { describe, expect, onTestFinished, test } from 'vitest';
import { listen, send } from '../src/http/testing/relay-for-test.ts';
import { newChannel, relayWorld, runRelay } from './relay-world.ts';

describe('svc-relay', () => {
  test('help has examples and exit codes, and there is a version', async () => {
    const help = await runRelay(['serve', '--help']);
    expect(help.code).toBe(0);
    for (const word of [
      'Examples:',
      'Exit codes:',
      '--open-channels',
      'SVC_RELAY_NATS_PASSWORD',
      '(default 7500)',
    ])
      expect(help.out).toContain(word);
    expect((await runRelay(['--version'])).out).toMatch(/^\d+\.\d+\.\d+/);
    expect((await runRelay(['provision', '--help'])).out).toContain('--dry-run');
  });

  test('wrong arguments exit with 2, wrong variables with 4, both with a reason', async () => {
    const port = await runRelay(['serve', '--port', 'many']);
    expect([port.code, port.err]).toEqual([2, expect.stringContaining('--port')]);
    expect((await runRelay(['dance'])).code).toBe(2);
    expect((await runRelay(['serve', '--colour'])).code).toBe(2);
    const ping = await runRelay(['serve'], { SVC_RELAY_PING: 'often' });
    expect([ping.code, ping.err]).toEqual([4, expect.stringContaining('SVC_RELAY_PING')]);
    const twice = await runRelay(['serve'], { SVC_RELAY_NATS_USER: 'a', SVC_RELAY_NATS_TOKEN: 'hunter2' });
    expect(twice.code).toBe(4);
    expect(twice.err).not.toContain('hunter2');
  });

  test('without NATS it reports the address that it tried', async () => {
    const ended = await runRelay(['serve', '--port', '0'], { SVC_RELAY_NATS: 'nats://127.0.0.1:1' });
    expect([ended.code, ended.err]).toEqual([5, expect.stringContaining('nats://127.0.0.1:1')]);
  });

  test('a NATS version that loses acknowledged messages is refused, with the reasons and the version to use', async () => {
    const info = {
      server_id: 'old',
      version: '2.9.10',
      proto: 1,
      headers: true,
      max_payload: 1048576,
      jetstream: true,
    };
    const old = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (part) => part.includes('PING') && socket.write('PONG\r\n'));
      socket.write(`INFO ${JSON.stringify(info)}\r\n`);
    });
    old.listen(0, '127.0.0.1');
    onTestFinished(() => void old.close());
    await once(old, 'listening');
    const environment = { SVC_RELAY_NATS: `nats://127.0.0.1:${(old.address() as AddressInfo).port}` };
    for (const command of [['serve', '--port', '0'], ['provision']]) {
      const ended = await runRelay(command, environment);
      expect(ended.code).toBe(6);
      for (const words of ['2.9.10', '2.14.6', '#8475', '#8312', '#8265', 'Upgrade it to 2.15.1'])
        expect(ended.err).toContain(words);
    }
  });

  test('without streams it reports what to run; --provision does it', async () => {
    const nats = await natsForTest();
    const environment = { SVC_RELAY_NATS: nats.url };
    const ended = await runRelay(['serve', '--port', '0'], environment);
    expect([ended.code, ended.err]).toEqual([
      6,
      expect.stringContaining(`svc-relay provision --nats ${nats.url}`),
    ]);
    const dry = await runRelay(['provision', '--dry-run', '--shards', '2'], environment);
    expect([dry.code, dry.out]).toEqual([0, expect.stringContaining('would be created')]);
    expect((await runRelay(['serve', '--port', '0'], environment)).code).toBe(6);
    const made = await runRelay(['provision', '--shards', '2'], environment);
    expect([made.code, made.out]).toEqual([0, expect.stringContaining('svc-relay-shard-01: created')]);
    const again = await runRelay(['provision'], environment);
    expect([again.code, again.out]).toEqual([0, expect.stringContaining('svc-relay-shard-01: unchanged')]);
    const other = await runRelay(['provision', '--shards', '3'], environment);
    expect([other.code, other.err]).toEqual([6, expect.stringContaining('shards')]);
  });

  test('a port in use exits with 6', async () => {
    const world = await relayWorld();
    const relay = await world.startRelay();
    const ended = await runRelay(['serve', '--port', String(relay.port)], { SVC_RELAY_NATS: world.nats.url });
    expect([ended.code, ended.err]).toEqual([6, expect.stringContaining('--port')]);
  });

  test('a stop ends streams, answers the running post, and exits 0', async () => {
    const world = await relayWorld();
    const relay = await world.startRelay();
    const { readUrl, readKey } = await newChannel(relay);
    const readers = await Promise.all(
      Array.from({ length: 20 }, () => listen(readUrl, { authorization: `Bearer ${readKey}` })),
    );
    const slow = connect(relay.port, '127.0.0.1');
    let received = '';
    slow.on('data', (part) => (received += part.toString()));
    const post = `POST ${new URL(readUrl).pathname} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n`;
    slow.write(`${post}Expect: 100-continue\r\n\r\n{`);
    await expect.poll(() => received).toContain('100 Continue');
    const stopping = relay.process.stop();
    await expect.poll(() => readers.every((reader) => reader.ended())).toBe(true);
    slow.write('}');
    expect(await stopping).toBe(0);
    expect(received).toContain('"ok":true');
    await expect(send(readUrl, { body: '{}' })).rejects.toThrow(/ECONN/);
  });

  test('a sender that never finishes its body does not delay the stop', async () => {
    const world = await relayWorld();
    const relay = await world.startRelay();
    const { readUrl } = await newChannel(relay);
    const stuck = connect(relay.port, '127.0.0.1');
    stuck.on('error', () => undefined);
    let received = '';
    stuck.on('data', (part) => (received += part.toString()));
    const post = `POST ${new URL(readUrl).pathname} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n`;
    stuck.write(`${post}Expect: 100-continue\r\n\r\n{`);
    await expect.poll(() => received).toContain('100 Continue');
    expect(await relay.process.stop()).toBe(0);
  });
});
