// A second user of the machine for a test: a process with another uid. Only root can start one.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { connect } from 'node:net';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

export const OTHER_UID = 23_456;

/** Whether this process can start processes of another user. */
export const canBeOtherUser = process.getuid?.() === 0;

/** Runs a script (the body of an async function with `given`) as the other user, and returns its result. */
export async function asOtherUser<Result>(script: string, given: unknown): Promise<Result> {
  const child = startAsOtherUser(
    `(async () => {${script}})().then((made) => process.stdout.write(JSON.stringify(made)))`,
    given,
  );
  const [printed, complained, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.on('exit', resolve)),
  ]);
  if (code !== 0) throw new Error(`the other user's process ended with ${code}: ${complained}`);
  return JSON.parse(printed) as Result;
}

/** The caller has to end it. */
export function startAsOtherUser(
  script: string,
  given: unknown,
): ChildProcessByStdio<null, Readable, Readable> {
  return spawn(process.execPath, ['-e', `const given = JSON.parse(process.env.GIVEN); ${script}`], {
    uid: OTHER_UID,
    gid: OTHER_UID,
    cwd: '/',
    env: { GIVEN: JSON.stringify(given) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/**
 * Opens connections as fast as it can, each with a request that would change something: some are cut off at once, some
 * half closed, some wait for their answer; ports are reused. Returns the answers.
 */
export const BURST = `
  const net = require('node:net');
  const answers = {};
  let sent = 0, data = 0;
  const note = (text) => { answers[text] = (answers[text] ?? 0) + 1; };
  const one = (number, isAgain = false) => new Promise((done) => {
    const how = ['wait', 'reset', 'half-closed', 'close'][number % 4];
    const localPort = given.ports[number % given.ports.length];
    const body = JSON.stringify({ event: 'orchestrator.run.started', scope: { orchestrator: 'stranger-' + number } });
    const head = number % 3 === 0
      ? 'GET /api/board HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n'
      : 'POST /api/events HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Type: application/json\\r\\nContent-Length: ' + body.length + '\\r\\n\\r\\n' + body;
    const socket = net.connect({ host: '127.0.0.1', port: given.port, ...(number % 2 === 0 && !isAgain && { localPort }) });
    let text = '', isTaken = false;
    socket.on('connect', () => {
      sent += 1;
      socket.write(head, () => {
        if (how === 'reset') socket.resetAndDestroy();
        if (how === 'close') socket.destroy();
        if (how === 'half-closed') socket.end();
      });
    });
    socket.on('data', (part) => { text += part; if (how === 'wait') socket.resetAndDestroy(); });
    socket.on('error', ({ code }) => { isTaken = code === 'EADDRINUSE' || code === 'EADDRNOTAVAIL'; });
    socket.on('close', () => {
      // The owner is using the port now: take another one.
      if (isTaken && !isAgain) return done(one(number, true));
      if (text !== '') note(text.slice(9, 12));
      if (text !== '' && !text.startsWith('HTTP/1.1 403')) data += text.length;
      done();
    });
  });
  const lanes = Array.from({ length: 64 }, async (_, lane) => {
    for (let number = lane; number < given.count; number += 64) await one(number);
  });
  await Promise.all(lanes);
  return { sent, data, answers };
`;

export type BurstResult = { sent: number; data: number; answers: Record<string, number> };

/** Ports outside the range that the system assigns. */
export const reusedPorts: readonly number[] = Array.from({ length: 32 }, (_, index) => 21_000 + index);

/** The owner sends requests from the same ports until the end; returns the number of answers. */
export async function askFromPorts(port: number, isOver: () => boolean): Promise<number> {
  let answered = 0;
  for (let turn = 0; !isOver(); turn += 1) {
    const localPort = reusedPorts[turn % reusedPorts.length] ?? 0;
    await new Promise<void>((done) => {
      const socket = connect({ host: '127.0.0.1', port, localPort });
      socket.on('connect', () => socket.write('GET /api/figures HTTP/1.1\r\nHost: localhost\r\n\r\n'));
      socket.on('data', (part) => {
        if (String(part).startsWith('HTTP/1.1 200')) answered += 1;
        socket.resetAndDestroy();
      });
      socket.on('error', () => undefined);
      socket.on('close', () => done());
    });
    await new Promise(setImmediate);
  }
  return answered;
}
