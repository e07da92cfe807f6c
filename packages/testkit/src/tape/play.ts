// Starts a daemon from source with the recorded day in it, and prints the address of its dashboard:
//
//   node packages/testkit/src/tape/play.ts --keep                 the whole day has passed, then live events
//   node packages/testkit/src/tape/play.ts --keep --past midday   the afternoon is played in about three minutes
//   node packages/testkit/src/tape/play.ts --keep --hostile       every text from outside is an attack
//   node packages/testkit/src/tape/play.ts --keep --past nothing  an empty machine
import { parseArgs } from 'node:util';
import { liveEvents } from './live-events.ts';
import { playTeamDay } from './send.ts';
import { type Moment, momentOf, startTapeDaemon } from './tape-daemon.ts';

const { values } = parseArgs({
  options: {
    keep: { type: 'boolean', default: false },
    past: { type: 'string', default: 'end' },
    hostile: { type: 'boolean', default: false },
    port: { type: 'string', default: '0' },
    pace: { type: 'string', default: '600' },
    'per-minute': { type: 'string', default: '12' },
  },
});

function momentGiven(text: string): Moment | 'nothing' {
  if (text === 'nothing' || Object.hasOwn(momentOf, text)) return text as Moment | 'nothing';
  throw new Error(`--past must be nothing, ${Object.keys(momentOf).join(', ')}, found ${text}`);
}

const past = momentGiven(values.past);
const daemon = await startTapeDaemon({ past, hostile: values.hostile, port: Number(values.port) });
console.log(`dashboard  ${daemon.url}`);
console.log(`home       ${daemon.home}`);
console.log(`output     ${daemon.output}`);

const leaving = new AbortController();
const leave = (): void => {
  leaving.abort();
  void daemon.close().then(() => process.exit(0));
};
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.removeAllListeners(signal);
  process.once(signal, leave);
}

if (past !== 'nothing') await daemon.svc('archive', 'sweep', 'run-harbour-hours');
if (past !== 'nothing' && past !== 'end') {
  const { played } = await playTeamDay(daemon, { pace: Number(values.pace), signal: leaving.signal });
  console.log(`played     ${played} records`);
}
if (values.keep) {
  const perMinute = Number(values['per-minute']);
  if (perMinute > 0 && past !== 'nothing') {
    liveEvents(daemon, { perMinute });
    console.log(`live       ${perMinute} events a minute until Ctrl-C`);
  }
} else {
  leave();
}
