// A small subscriber of relay.ts: the daemon's tunnel with its own log, in a process that can be killed.
// `node chaos/relay-subscriber.ts <folder> <channel>`; the read key is in SVC_CHAOS_READ_KEY.
import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTunnel } from '../packages/monitor/src/features/feeds/io/tunnel.ts';
import { openSubscriberLog } from './relay/subscriber-log.ts';

const [folder = '.', url = ''] = process.argv.slice(2);
const log = openSubscriberLog(folder);
const say = (...words: unknown[]): void => console.log(JSON.stringify(words));
const variable = 'SVC_CHAOS_READ_KEY';
const tunnel = createTunnel({
  feed: 'chaos',
  channel: { use: true, url },
  receive: (delivery) => log.receive(delivery),
  cursorOf: () => log.cursor(),
  logger: { info: say, warn: say, error: say },
  readKey: { variable, fileName: 'none', value: process.env[variable] },
  onGap: (gap) => appendFileSync(join(folder, 'gaps.jsonl'), `${JSON.stringify(gap)}\n`),
});
tunnel.start();
const announced = join(folder, 'subscriber.json');
writeFileSync(`${announced}.new`, JSON.stringify({ pid: process.pid, port: 0 }));
renameSync(`${announced}.new`, announced);
process.on('SIGTERM', () => {
  tunnel.stop().then(
    () => process.exit(0),
    () => process.exit(1),
  );
});
// The tunnel's own timers do not keep a process alive between two connections.
setInterval(() => undefined, 60_000);
