// Another user of the machine opens connections to the daemon as fast as possible: cut off at once, half closed, on
// ports that the owner uses at the same time. None may be accepted. Then measures the cost of finding the user of a
// connection, with few sockets on the machine and with many.
// `npm run chaos:other-user`, as root; `-- --count 400 --sockets 0` for a short run.
import { request } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import {
  askFromPorts,
  asOtherUser,
  BURST,
  type BurstResult,
  canBeOtherUser,
  reusedPorts,
} from '../packages/testkit/src/access/other-user.ts';
import { createDaemonHome, startDaemon } from '../packages/testkit/src/daemon/start-daemon.ts';
import {
  describeMachine,
  failUnless,
  logLines,
  medianOf,
  scriptOptions,
  secondsSince,
} from '../packages/testkit/src/script.ts';

const { count, sockets } = scriptOptions({ count: 10_000, sockets: 10_000 });
const MEASURED = 50;
const AT_ONCE = 500;

if (!canBeOtherUser) {
  console.log('skipped: only root can start a process of another user');
  process.exit(0);
}
const home = createDaemonHome('chaos-other-user');
const daemon = startDaemon(home);
console.log(describeMachine());
try {
  const { port } = await daemon.ready;
  let isOver = false;
  const owner = askFromPorts(port, () => isOver);
  const started = performance.now();
  const burst = await asOtherUser<BurstResult>(BURST, { port, ports: reusedPorts, count });
  isOver = true;
  const answered = await owner;
  const seconds = secondsSince(started);
  const { access } = (await ask(port, '/api/health')) as { access: { refused: Record<string, number> } };
  const letIn = logLines(home.eventsDir).join('').split('stranger-').length - 1;
  console.log(
    `${burst.sent} connections of another user in ${seconds} s, the owner got ${answered} answers meanwhile`,
  );
  console.log(`answers ${JSON.stringify(burst.answers)}, refused ${JSON.stringify(access.refused)}`);
  console.log(`accepted ${letIn}, bytes of data ${burst.data}`);
  failUnless(letIn === 0 && burst.data === 0 && answered > 0);
  console.log(`one connection, few sockets: ${await cost(port)}`);
  if (sockets > 0) {
    const close = await openSockets(sockets);
    console.log(`one connection, ${sockets} sockets more: ${await cost(port)}`);
    close();
  }
  await daemon.stop();
} finally {
  await daemon.kill();
  home.remove();
}

/** A new connection and its first answer, one after the other; then many at once. */
async function cost(port: number): Promise<string> {
  const times: number[] = [];
  for (let turn = 0; turn < MEASURED; turn += 1) {
    const started = performance.now();
    await ask(port, '/api/figures');
    times.push(performance.now() - started);
  }
  const started = performance.now();
  await Promise.all(Array.from({ length: AT_ONCE }, () => ask(port, '/api/figures')));
  const each = (performance.now() - started) / AT_ONCE;
  return `median ${medianOf(times).toFixed(1)} ms; ${AT_ONCE} at once: ${each.toFixed(2)} ms each`;
}

function ask(port: number, path: string): Promise<unknown> {
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
  const server = createServer((socket) => held.push(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  while (held.length < wanted)
    await new Promise<void>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', resolve).on('error', reject);
      held.push(socket);
    });
  return () => {
    for (const socket of held) socket.resetAndDestroy();
    server.close();
  };
}
