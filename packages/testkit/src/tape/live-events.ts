// Steady traffic, like in a busy hour: records of the day are sent again at a constant rate, each with the current
// time. Checks start and end, people comment, tickets change, agents print output and cost money.
import type { DayRecord } from '../../../demo/src/day.ts';
import { appendOutput, changeSignal } from '../../../demo/src/worker-files.ts';
import { createRandom } from '../random.ts';
import { sendRecord } from './send.ts';
import type { TapeDaemon } from './tape-daemon.ts';

export type LiveEvents = {
  /** Records that the daemon has accepted. */
  sent: () => number;
  /** The first problem, if any. */
  problem: () => unknown;
  stop: () => Promise<void>;
};

const workers = ['TID-121', 'TID-123', 'TID-124'];
const reviewed = /\btid-12[678]\b/i;
/** How many of each are sent. */
const kinds = ['pull_request', 'check_suite', 'issue_comment', 'Issue', 'Comment', 'output'];
/** Only changes that leave every card in its column. */
const only: Record<string, string> = { pull_request: '"synchronize"', Issue: '"name":"In Review"' };

/** `const live = liveEvents(daemon, { perMinute: 60 }); … await live.stop();` */
export function liveEvents(
  daemon: Pick<TapeDaemon, 'url' | 'runsDir' | 'applyDelivery' | 'day'>,
  { perMinute, seed = 7 }: { perMinute: number; seed?: number },
): LiveEvents {
  const random = createRandom(seed);
  const records = kinds.map((kind) => daemon.day.records.filter((record) => isSentAgain(record, kind)));
  const cost = { usd: 4, inputTokens: 900_000, outputTokens: 70_000 };
  let sent = 0;
  let problem: unknown;
  let stopped = false;

  async function sendOne(): Promise<void> {
    const now = new Date();
    const record = daemon.day.dated(random.pick(random.pick(records)), now);
    if (record.kind !== 'output') return sendRecord(daemon, record);
    cost.usd = Math.round((cost.usd + 0.0123) * 10_000) / 10_000;
    cost.inputTokens += 4_100;
    cost.outputTokens += 350;
    appendOutput(daemon, record, [random.pick(record.lines)]);
    changeSignal(daemon, record, { updatedAt: now.toISOString(), cost: { ...cost } });
  }

  const underWay = new Set<Promise<void>>();
  const startedAt = performance.now();
  let begun = 0;
  // By the clock, because the timer is late on a busy machine.
  const timer = setInterval(
    () => {
      for (const due = ((performance.now() - startedAt) * perMinute) / 60_000; begun < due; begun += 1) {
        const sending = sendOne().then(
          () => void (sent += 1),
          (error: unknown) => void (stopped || (problem ??= error)),
        );
        underWay.add(sending);
        void sending.finally(() => underWay.delete(sending));
      }
    },
    Math.min(1_000, 60_000 / perMinute),
  );

  return {
    sent: () => sent,
    problem: () => problem,
    async stop() {
      stopped = true;
      clearInterval(timer);
      await Promise.all(underWay);
    },
  };
}

function isSentAgain(record: DayRecord, kind: string): boolean {
  if (record.kind === 'output')
    return kind === 'output' && workers.includes(record.ticket) && record.lines.length > 1;
  if ((record.kind !== 'codehost' && record.kind !== 'tracker') || record.type !== kind) return false;
  if (kind === 'Comment' || kind === 'issue_comment') return true;
  const text = JSON.stringify(record.payload);
  return reviewed.test(text) && (only[kind] === undefined || text.includes(only[kind]));
}
