// Checks that only the daemon can make: writes a line and reads it back, through the index and from its file, and sends
// a signed test delivery to each receiver, over HTTP like any other. Bounded in time; never rejects.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '@svc/lib/errors';
import { openFile } from '@svc/lib/paths';
import { within } from '@svc/lib/timeout';
import type { Environment } from '../../../kernel/config/resolved-value.ts';
import { Failure } from '../../../kernel/failure.ts';
import type { EventLine } from '../../../kernel/log/event-line.ts';
import type { EventLog } from '../../../kernel/log/event-log.ts';
import { listFilledMonthFiles } from '../../../kernel/log/month-file.ts';
import { codehostFeed } from '../../codehost/webhook-feed.ts';
import type { Config } from '../../config.ts';
import { secretProblem } from '../../feeds/delivery.ts';
import { type Feed, type Secrets } from '../../feeds/io/feed.ts';
import { selfTestRequest } from '../../feeds/io/feed-ping.ts';
import { readSummarySettings } from '../../summaries/settings.ts';
import { trackerFeed } from '../../tracker/webhook-feed.ts';
import type { SelfCheck, TriedDelivery } from '../self-check.ts';

const TIMEOUT_MS = 5_000;
const RETRY_MS = 50;
/** Other lines may follow ours in the file. */
const TAIL_BYTES = 4 * 1024 * 1024;
const CHECK_DISK = 'Free disk space and check the folder of the event log: svc config show --all';

export function createSelfCheck(options: {
  configs: () => readonly Config[];
  environment: Environment;
  eventsDir: string;
  log: Pick<EventLog, 'append' | 'list'>;
  secrets: () => Secrets;
  url: () => string;
  fetch: typeof fetch;
  timeoutMs?: number;
}): (by: string | undefined) => Promise<SelfCheck> {
  const { log, timeoutMs = TIMEOUT_MS } = options;

  async function tryLog(by: string | undefined): Promise<SelfCheck['log']> {
    const started = performance.now();
    const detail = by === undefined ? {} : { by };
    const written = await endOf(
      timeoutMs,
      log.append({ event: 'monitor.daemon.checked', source: 'monitor', via: 'local', scope: {}, detail }),
    );
    if (!written.ok)
      return { ok: false, step: 'write', why: written.why, remedy: written.remedy ?? CHECK_DISK };
    const line = written.value;
    const found = await endOf(timeoutMs, foundByIndex(log, line, timeoutMs / 2));
    if (!found.ok || !found.value) {
      const why = found.ok ? `event ${line.seq} was not found within ${timeoutMs / 2000} s` : found.why;
      return { ok: false, step: 'index', why, remedy: 'Rebuild the index: svc events reindex' };
    }
    const inFile = await endOf(timeoutMs, isInFile(options.eventsDir, line));
    if (!inFile.ok || !inFile.value) {
      const why = inFile.ok ? `event ${line.seq} is not at the end of its file` : inFile.why;
      return { ok: false, step: 'file', why, remedy: CHECK_DISK };
    }
    return { ok: true, seq: line.seq, milliseconds: sinceThen(started) };
  }

  async function tryReceiver(feed: Feed): Promise<TriedDelivery> {
    const { name, path } = feed;
    const secrets = options.secrets()[name];
    const [secret] = secrets.values;
    if (secret === undefined) {
      const { why = '', remedy = null } = secretProblem(name, secrets) ?? {};
      return { feed: name, ok: false, disabled: true, why, remedy };
    }
    const started = performance.now();
    const { headers, body } = selfTestRequest(name, crypto.randomUUID(), secret);
    const { 'Content-Length': _, ...sent } = headers;
    const answered = await endOf(
      timeoutMs,
      options.fetch(options.url() + path, {
        method: 'POST',
        headers: sent,
        body: new Uint8Array(body),
        signal: AbortSignal.timeout(timeoutMs),
      }),
    );
    const no = (why: string): TriedDelivery => {
      return {
        feed: name,
        ok: false,
        disabled: false,
        why,
        remedy: 'See: svc monitor logs; then svc monitor restart',
      };
    };
    if (!answered.ok) return no(answered.why);
    const { status } = answered.value;
    await answered.value.body?.cancel();
    return status === 200
      ? { feed: name, ok: true, milliseconds: sinceThen(started) }
      : no(`it answered ${status}`);
  }

  return async (by) => {
    const [tried, ...receivers] = await Promise.all([
      tryLog(by),
      tryReceiver(codehostFeed),
      tryReceiver(trackerFeed),
    ]);
    return { log: tried, receivers, providers: providersOf(options.configs(), options.environment) };
  };
}

function providersOf(configs: readonly Config[], environment: Environment): SelfCheck['providers'] {
  const { providers, missing } = readSummarySettings(configs, environment);
  return {
    enabled: configs.some(({ svc }) => svc.ai.enabled),
    present: [...providers.keys()],
    missing: [...missing]
      .filter(([provider]) => !providers.has(provider))
      .map(([provider, variable]) => ({ provider, variable })),
  };
}

async function foundByIndex(
  log: Pick<EventLog, 'list'>,
  line: EventLine,
  timeoutMs: number,
): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const { entries } = await log.list({ since: { seq: line.seq - 1 }, order: 'oldest-first', limit: 1 });
    if (entries[0]?.line.id === line.id) return true;
    if (performance.now() > deadline) return false;
    await sleep(RETRY_MS);
  }
}

/** Reads the disk itself, not what the log has in memory: the newest file is the one that is written to. */
async function isInFile(eventsDir: string, line: EventLine): Promise<boolean> {
  const newest = listFilledMonthFiles(eventsDir).at(-1);
  if (newest === undefined) return false;
  const handle = await openFile(join(eventsDir, newest));
  try {
    const { size } = await handle.stat();
    const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES));
    await handle.read(bytes, 0, bytes.length, size - bytes.length);
    return bytes.includes(`"id":"${line.id}"`);
  } finally {
    await handle.close();
  }
}

type Ended<T> = { ok: true; value: T } | { ok: false; why: string; remedy?: string | undefined };

function endOf<T>(milliseconds: number, work: Promise<T>): Promise<Ended<T>> {
  const done = work.then(
    (value): Ended<T> => ({ ok: true, value }),
    (error: unknown): Ended<T> => ({
      ok: false,
      why: messageOf(error),
      remedy: error instanceof Failure ? error.remedy : undefined,
    }),
  );
  return within(done, milliseconds, () => ({
    ok: false as const,
    why: `it did not finish within ${milliseconds / 1000} s`,
  }));
}

function sinceThen(started: number): number {
  return Math.round((performance.now() - started) * 10) / 10;
}
