// Another user of the machine opens connections to the daemon as fast as possible: cut off at once, half closed, on
// ports that the owner uses at the same time. None may be accepted. Then measures the cost of finding the user of a
// connection, with few sockets on the machine and with many.
// `npm run chaos:other-user`, as root; `-- --count 400 --sockets 0` for a short run.
import { createServer, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import {
  askFromPorts,
  asOtherUser,
  BURST,
  type BurstResult,
  canBeOtherUser,
  reusedPorts,
} from '../packages/testkit/src/access/other-user.ts';
import { createDaemonHome, startDaemon } from '../packages/testkit/src/daemon/start-daemon.ts';
import { listen, logLines, medianOf, scriptOptions } from '../packages/testkit/src/script.ts';
import { scenario, unless } from './scenario.ts';

const { count, sockets } = scriptOptions({ count: 10_000, sockets: 10_000 });
const MEASURED = 50;
const AT_ONCE = 500;

if (!canBeOtherUser) {
  console.log('skipped: only root can start a process of another user');
  process.exit(0);
}
const home = createDaemonHome('chaos-other-user');
const daemon = startDaemon(home);
const { port } = await daemon.ready;
let burst: BurstResult | undefined;
let answered = 0;
await scenario({
  title: `${count} connections of another user`,
  async load() {
    burst = await asOtherUser<BurstResult>(BURST, { port, ports: reusedPorts, count });
  },
  /** The owner, on the same ports. */
  async disturb() {
    answered = await askFromPorts(port, () => burst !== undefined);
  },
  async verdict(seconds) {
    const { access } = (await ask('/api/health')) as { access: { refused: Record<string, number> } };
    const letIn = logLines(home.eventsDir).join('').split('stranger-').length - 1;
    const figures = [
      `${burst?.sent} connections in ${seconds.toFixed(1)} s, the owner got ${answered} answers meanwhile`,
      `answers ${JSON.stringify(burst?.answers)}, refused ${JSON.stringify(access.refused)}`,
      `accepted ${letIn}, bytes of data ${burst?.data}`,
      `one connection, few sockets: ${await cost()}`,
    ];
    if (sockets > 0) {
      const close = await openSockets(sockets);
      figures.push(`one connection, ${sockets} sockets more: ${await cost()}`);
      close();
    }
    await daemon.stop();
    return {
      figures,
      problems: [
        ...unless(letIn === 0, `${letIn} deliveries of another user were accepted`),
        ...unless(burst?.data === 0, `another user got ${burst?.data} bytes`),
        ...unless(answered > 0, 'the owner got no answer'),
      ],
    };
  },
});

/** A new connection and its first answer, one after the other; then many at once. */
async function cost(): Promise<string> {
  const times: number[] = [];
  for (let turn = 0; turn < MEASURED; turn += 1) {
    const started = performance.now();
    await ask('/api/figures');
    times.push(performance.now() - started);
  }
  const started = performance.now();
  await Promise.all(Array.from({ length: AT_ONCE }, () => ask('/api/figures')));
  const each = (performance.now() - started) / AT_ONCE;
  return `median ${medianOf(times).toFixed(1)} ms; ${AT_ONCE} at once: ${each.toFixed(2)} ms each`;
}

function ask(path: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, agent: false }, (response) => {
      let text = '';
      response.on('data', (part) => (text += String(part))).on('end', () => resolve(JSON.parse(text)));
      if (response.statusCode !== 200) reject(new Error(`${path}: ${response.statusCode}`));
    })
      .on('error', reject)
      .end();
  });
}

/** Both ends of a connection are sockets of this machine. */
async function openSockets(wanted: number): Promise<() => void> {
  const held: Socket[] = [];
  const server = createServer().on('connection', (socket) => held.push(socket));
  const { port: to } = await listen(server);
  while (held.length < wanted)
    await new Promise<void>((resolve, reject) => {
      const socket = connect(to, '127.0.0.1', resolve).on('error', reject);
      held.push(socket);
    });
  return () => {
    for (const socket of held) socket.resetAndDestroy();
    server.close();
  };
}
