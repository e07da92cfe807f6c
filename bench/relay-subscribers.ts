// Ten thousand idle subscribers on one relay process, each on its own channel: the memory for each, the cost while
// idle, and then how many a second reconnect with Last-Event-ID and get what they missed.
// `node bench/relay-subscribers.ts`; `--subscribers 1000` for a machine with few open files, `--profile` for a profile
// of the relay.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuMicroseconds } from '../packages/testkit/src/daemon/process-figures.ts';
import { natsServerVersion } from '../packages/testkit/src/nats/nats-node.ts';
import { newRelayChannel } from '../packages/testkit/src/nats/relay-process.ts';
import {
  describeMachine,
  failUnless,
  printProblems,
  scriptOptions,
  secondsSince,
  severalAtOnce,
} from '../packages/testkit/src/script.ts';
import { startChild } from './child.ts';
import type { PlainServer } from './relay/plain-server.ts';
import type { DriverFigures, DriverOrder, StreamChannel } from './relay/stream-driver.ts';
import { type BenchRelay, printProfile, startBenchRelay, startEngine } from './relay/world.ts';

const options = scriptOptions({
  subscribers: 10_000,
  drivers: 2,
  'idle-seconds': 20,
  'resume-seconds': 10,
  'at-once': 64,
  'goal-kb': 16,
  'goal-resumes': 4000,
  profile: false,
});
/** The relay needs a file for each, and some for itself; a driver needs its share. */
const filesNeeded = options.subscribers + 500;

const natsVersion = natsServerVersion();
const filesAllowed = Number(
  /Max open files\s+\d+\s+(\d+)/.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? 0,
);
if (filesAllowed < filesNeeded) {
  console.log(
    `${filesNeeded} open files are needed, but only ${filesAllowed} are allowed. Raise the limit (ulimit -Hn ${filesNeeded}, as root), or use fewer: --subscribers ${filesAllowed - 500}`,
  );
  process.exit(2);
}
console.log(describeMachine());
console.log(
  `nats-server ${natsVersion}; ${options.subscribers} subscribers, each on its own channel, ${options.drivers} driver processes, one relay process`,
);
const engine = await startEngine(1);
const ours = await startBenchRelay(engine, { profiled: options.profile });
const drivers = Array.from({ length: options.drivers }, () =>
  startChild<DriverOrder, DriverFigures>(join(import.meta.dirname, 'relay/stream-driver.ts')),
);
try {
  const channels = await makeChannels(ours);
  await sleep(2000);
  const before = rssKilobytes(ours.relay.pid);
  const opened = await openAll(channels);
  const idle = await measureIdle(ours, before);
  const open = (await askAll(() => ({ what: 'count' }))).reduce((sum, one) => sum + one.open, 0);
  console.log(
    `${open} open, ${Math.round(opened)} connects/s; ${idle.kilobytes.toFixed(1)} KB each (goal under ${options['goal-kb']}; ${Math.round(before / 1024)} MB before, ${Math.round(idle.rss / 1024)} MB with them); idle ${idle.cpuPercent.toFixed(1)} % of a core`,
  );
  await postToAll(ours, channels, 1);
  await postToAll(ours, channels, 2);
  const resumes = await resumeAll();
  await resumePlain();
  const reached =
    open === options.subscribers && idle.kilobytes < options['goal-kb'] && resumes >= options['goal-resumes'];
  console.log(reached ? 'reached' : 'MISSED');
  failUnless(reached);
  if (options.profile) await printProfile(ours);
} finally {
  for (const driver of drivers) driver.end();
  await ours.stop();
  await engine.stop();
}

async function makeChannels({ relay }: BenchRelay): Promise<StreamChannel[]> {
  const started = performance.now();
  const channels = await severalAtOnce(options.subscribers, options['at-once'], async () => {
    const { channel, readKey } = await newRelayChannel(relay.url);
    return { channel, readKey };
  });
  const seconds = (performance.now() - started) / 1000;
  console.log(`${channels.length} channels created, ${Math.round(channels.length / seconds)} a second`);
  return channels;
}

/** Connects a second, of all drivers together. */
async function openAll(channels: readonly StreamChannel[]): Promise<number> {
  const share = Math.ceil(channels.length / drivers.length);
  const started = performance.now();
  const figures = await askAll((driver) => ({
    what: 'open',
    port: ours.relay.port,
    driver,
    channels: channels.slice(driver * share, (driver + 1) * share),
    atOnce: options['at-once'],
  }));
  printProblems(figures.flatMap(({ failed }) => failed));
  return channels.length / ((performance.now() - started) / 1000);
}

async function measureIdle({ relay }: BenchRelay, before: number) {
  // First collect the garbage from opening, then stay idle.
  await sleep(5000);
  const started = performance.now();
  const cpu = cpuMicroseconds(relay.pid);
  await sleep(options['idle-seconds'] * 1000);
  const spent = cpuMicroseconds(relay.pid) - cpu;
  const rss = rssKilobytes(relay.pid);
  return {
    rss,
    kilobytes: (rss - before) / options.subscribers,
    cpuPercent: spent / ((performance.now() - started) * 10),
  };
}

/** One delivery for each channel. The second one is what each resumes with. */
async function postToAll(
  { relay }: BenchRelay,
  channels: readonly StreamChannel[],
  round: number,
): Promise<void> {
  const started = performance.now();
  await severalAtOnce(channels.length, options['at-once'], async (number) => {
    const headers = { 'content-type': 'application/json' };
    const url = `${relay.url}/${channels[number]?.channel}`;
    const answer = await fetch(url, { method: 'POST', headers, body: '{"a":1}' });
    if (!answer.ok) throw new Error(`a delivery was answered ${answer.status}: ${await answer.text()}`);
    await answer.arrayBuffer();
  });
  const posted = secondsSince(started);
  let delivered = 0;
  for (let check = 0; check < 100 && delivered < round * channels.length; check += 1) {
    await sleep(100);
    const figures = await askAll(() => ({ what: 'count' }));
    delivered = figures.reduce((sum, one) => sum + one.delivered, 0);
  }
  console.log(
    `${channels.length} deliveries, one each, in ${posted} s; ${delivered} have arrived at the idle subscribers`,
  );
  failUnless(delivered >= round * channels.length);
}

async function resumeAll(): Promise<number> {
  const { perSecond, microseconds } = await resumesOf(ours.relay);
  console.log(
    `${Math.round(perSecond)} resumes/s with Last-Event-ID, each with what it missed (goal at least ${options['goal-resumes']}); ${Math.round(microseconds)} µs of the relay each`,
  );
  return perSecond;
}

async function resumePlain(): Promise<void> {
  const plain = startChild<object, PlainServer>(join(import.meta.dirname, 'relay/plain-server.ts'));
  const { port } = await plain.ask({});
  const { perSecond, microseconds } = await resumesOf({ pid: plain.pid, port });
  plain.end();
  console.log(
    `for comparison, a server that answers each with one event and reads nothing: ${Math.round(perSecond)}/s, ${Math.round(microseconds)} µs each`,
  );
}

async function resumesOf({ pid, port }: { pid: number; port: number }) {
  const cpu = cpuMicroseconds(pid);
  const figures = await askAll(() => ({
    what: 'resume',
    port,
    seconds: options['resume-seconds'],
    atOnce: options['at-once'],
  }));
  const spent = cpuMicroseconds(pid) - cpu;
  printProblems(figures.flatMap(({ failed }) => failed));
  failUnless(figures.every(({ failed }) => failed.length === 0));
  const resumes = figures.reduce((sum, one) => sum + one.resumes, 0);
  const perSecond = figures.reduce((sum, one) => sum + one.resumes / one.seconds, 0);
  return { perSecond, microseconds: spent / resumes };
}

function askAll(orderFor: (index: number) => DriverOrder): Promise<DriverFigures[]> {
  return Promise.all(drivers.map((driver, index) => driver.ask(orderFor(index))));
}

function rssKilobytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
}
