// Run as a separate process by the crash tests: appends deliveries as fast as it can and prints each
// `seq` and delivery id once it was acknowledged, until it is killed.
// node append-until-killed.ts <folder> <prefix> <in flight> <lines, or 0 for no limit>
import { writeSync } from 'node:fs';
import { draft, openTestLog } from './sample-log.ts';

const [folder = '', prefix = 'd', inFlight = '32', lines = '0'] = process.argv.slice(2);
const log = openTestLog(folder);
await log.ready;
let count = 0;
const limit = Number(lines) || Infinity;

async function appendForEver(): Promise<void> {
  while (count < limit) {
    count += 1;
    const deliveryId = `${prefix}-${count}`;
    const detail = { text: 'é'.repeat((count * 37) % 700) };
    const { seq } = await log.appendOnce(draft({ deliveryId, detail, scope: { ticket: `T-${count % 9}` } }));
    writeSync(1, `${seq} ${deliveryId}\n`);
  }
}

await Promise.all(Array.from({ length: Number(inFlight) }, appendForEver));
await log.close();
