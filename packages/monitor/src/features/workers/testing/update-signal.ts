// Run as a separate process: adds one to the field `count` of a signal file, repeatedly.
// node update-signal.ts <runs folder> <locks folder> <orchestrator> <ticket> <times, or 0 for no limit> <timeout in ms>
import { writeSync } from 'node:fs';
import { createFileLocks } from '../../../kernel/disk/lock.ts';
import { createSignalStore } from '../io/signal-store.ts';

const [runsDir = '', locksDir = '', orchestrator = '', ticket = '', times = '0', timeoutMs = ''] =
  process.argv.slice(2);
const locks = createFileLocks({ folder: locksDir, timeoutMs: Number(timeoutMs) });
const store = createSignalStore({ runsDir, locks, now: () => new Date() });
const limit = Number(times) || Infinity;
for (let done = 1; done <= limit; done += 1) {
  const result = await store.update(orchestrator, ticket, (signal) => {
    const count = Number(signal['count']) + 1;
    return { ...signal, count, filler: 'é'.repeat((count * 977) % 20_000) };
  });
  if (!result.ok) throw new Error(result.why);
  writeSync(1, `${String(result.signal['count'])}\n`);
}
