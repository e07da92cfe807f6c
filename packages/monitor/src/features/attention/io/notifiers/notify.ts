// Notifies a person that something needs them, through every configured notifier.
//
// Notifications are at-least-once: what was sent is remembered per notifier only while the daemon runs, and a receiver may
// have accepted one whose response was lost.
import { retryAfterMs } from '@svc/lib/backoff';
import { messageOf, systemErrorCode } from '@svc/lib/errors';
import { causeOf } from '@svc/lib/fetch';
import type { System } from '@svc/lib/system';
import type { Environment } from '../../../../kernel/config/resolved-value.ts';
import {
  isAtLeast,
  type NotificationText,
  type NotifyConfig,
  type NotifyEffect,
  notificationText,
  quietMinutesLeft,
} from '../../notification.ts';

// A notification to an ntfy topic: the text is the body, the rest goes into headers.

const styles: Readonly<Record<string, { priority: string; tag: string }>> = {
  low: { priority: '2', tag: 'information_source' },
  medium: { priority: '3', tag: 'warning' },
  high: { priority: '5', tag: 'rotating_light' },
};
const unknownStyle = { priority: '3', tag: 'warning' };

function createNtfyNotifier(url: string, means: Parameters<typeof post>[1]): Deliver {
  return ({ effect: { severity }, title, text }) => {
    const { priority, tag } = (Object.hasOwn(styles, severity) && styles[severity]) || unknownStyle;
    const headers = {
      'Content-Type': 'text/plain; charset=utf-8',
      Title: asciiOnly(title),
      Priority: priority,
      Tags: tag,
    };
    return post({ url, headers, body: text }, means);
  };
}

/** A header cannot safely contain anything else. */
function asciiOnly(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/gu, '?');
}

// A notification as JSON to a configured URL. A receiver that knows the key accepts it once.

function createWebhookNotifier(url: string, means: Parameters<typeof post>[1]): Deliver {
  return ({ effect: { key, attention, reason, severity }, title, ticket, message, remedy, text }) => {
    const body = {
      // Chat services read this field, and interpret `<!channel>` or a link in it as a command.
      text: `${title}\n${text}`.replaceAll('<', '‹').replaceAll('>', '›'),
      ticket,
      reason,
      severity,
      message,
      remedy,
      attention,
    };
    const request: Post = {
      url,
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': headerSafe(key) },
      body: JSON.stringify(body),
    };
    return post(request, means);
  };
}

/** Keys contain names of tickets and runs in any alphabet; a header must not. */
function headerSafe(key: string): string {
  return encodeURI(key.toWellFormed());
}

// A notification on the desktop of this machine. The texts are arguments of a program, never part of a script or a shell
// command.

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 16_384;
const OFF = 'turn it off: svc config set svc.notify.desktop.enabled false';
/** What a program needs to find the desktop; it gets none of the daemon's secrets. */
const passedOn = [
  'PATH',
  'HOME',
  'LANG',
  'DISPLAY',
  'WAYLAND_DISPLAY',
  'XDG_RUNTIME_DIR',
  'DBUS_SESSION_BUS_ADDRESS',
];

/** Runs a program without a shell, limited in time and output. */
export type RunProgram = (program: {
  file: string;
  args: readonly string[];
  environment: Readonly<Record<string, string>>;
  timeoutMs: number;
  maxBytes: number;
}) => Promise<
  | { ended: 'exit'; exitCode: number }
  | { ended: 'not-started'; reason: string }
  | { ended: 'timeout' | 'too-large' | 'stopped' }
>;

function createDesktopNotifier(means: {
  run: RunProgram;
  system: Pick<System, 'notification'>;
  environment: Environment;
}): Deliver {
  const environment = Object.fromEntries(
    passedOn.flatMap((name) => {
      const value = means.environment[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
  return async ({ effect, title, text }) => {
    const program = means.system.notification({
      app: 'svc',
      title,
      text,
      isUrgent: effect.severity === 'high',
    });
    if (program === undefined)
      throw new NotSent(`desktop notifications are not supported on this system; ${OFF}`, {
        permanent: true,
      });
    const end = await means.run({ ...program, environment, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES });
    if (end.ended === 'exit' && end.exitCode === 0) return;
    if (end.ended === 'not-started')
      throw new NotSent(`${program.file} cannot be started (${end.reason}); install it, or ${OFF}`, {
        permanent: true,
      });
    const how = end.ended === 'exit' ? `exit code ${end.exitCode}` : end.ended;
    throw new NotSent(`${program.file} failed (${how})`, { permanent: false });
  };
}

/** Effects whose partly sent state is remembered. */
const KEPT = 500;

/** `waiting`: nothing was tried and nothing failed, so it does not count as an attempt. */
export type NotifyOutcome =
  | { done: string }
  | { failed: string; permanent: boolean; retryAfterMs: number | undefined; waiting: boolean };

export type NotifierOptions = {
  /** Read each time: it may have changed. */
  config: () => NotifyConfig;
  fetch: typeof globalThis.fetch;
  run: RunProgram;
  now: () => Date;
  system: Pick<System, 'notification'>;
  environment: Environment;
  /** Whether the attention item is still open. Items resolved during quiet hours are not sent afterwards. */
  isOpen?: (attention: string) => boolean;
  timeoutMs?: number;
};

/** The outbox's handler for `notify`. */
export function createNotifier(options: NotifierOptions): (effect: NotifyEffect) => Promise<NotifyOutcome> {
  const { now, isOpen = () => true } = options;
  /** Per effect: which notifiers have sent it, and which never can. */
  const settled = new Map<string, Map<string, NotSent | 'sent'>>();

  return async (effect) => {
    const config = options.config();
    const notifiers = configured(config, options);
    if (notifiers.length === 0) return { done: 'no notifier is configured' };
    if (!isAtLeast(effect.severity, config.minSeverity))
      return { done: `not sent: ${effect.severity} is below svc.notify.minSeverity` };
    if (!isOpen(effect.attention)) return { done: 'not sent: it is resolved' };
    const held = quietMs(config, now());
    if (held > 0)
      return {
        failed: 'held until the quiet hours end',
        permanent: false,
        retryAfterMs: held,
        waiting: true,
      };

    const known = settled.get(effect.key) ?? new Map<string, NotSent | 'sent'>();
    const notification = { ...notificationText(effect), effect };
    const results = await Promise.all(
      notifiers.map(async ({ name, deliver }) => ({
        name,
        result: known.get(name) ?? (await attempt(() => deliver(notification))),
      })),
    );
    for (const { name, result } of results)
      if (result === 'sent' || result.permanent) known.set(name, result);
    const failures = results.flatMap(({ name, result }) =>
      result === 'sent' ? [] : [{ name, error: result }],
    );
    const permanent = failures.every(({ error }) => error.permanent);
    if (!permanent) remember(settled, effect.key, known);
    else settled.delete(effect.key);
    if (failures.length === 0) return { done: `sent by ${notifiers.map(({ name }) => name).join(', ')}` };
    const pauses = failures.flatMap(({ error }) => error.retryAfterMs ?? []);
    return {
      failed: failures.map(({ name, error }) => `${name}: ${error.message}`).join('; '),
      permanent,
      retryAfterMs: pauses.length === 0 ? undefined : Math.max(...pauses),
      waiting: false,
    };
  };
}

function configured(
  { desktop, webhook, ntfy }: NotifyConfig,
  options: NotifierOptions,
): { name: string; deliver: Deliver }[] {
  return [
    ...(desktop.enabled ? [{ name: 'desktop', deliver: createDesktopNotifier(options) }] : []),
    ...(webhook.url === undefined
      ? []
      : [{ name: 'webhook', deliver: createWebhookNotifier(webhook.url, options) }]),
    ...(ntfy.url === undefined ? [] : [{ name: 'ntfy', deliver: createNtfyNotifier(ntfy.url, options) }]),
  ];
}

async function attempt(deliver: () => Promise<void>): Promise<'sent' | NotSent> {
  try {
    await deliver();
    return 'sent';
  } catch (error) {
    // A bug in one notifier must not make the others send again.
    return error instanceof NotSent ? error : new NotSent(messageOf(error), { permanent: false });
  }
}

/** Time until the end of the quiet hours, by the local clock; 0 outside of them. */
function quietMs(config: NotifyConfig, now: Date): number {
  const minutes = quietMinutesLeft(config, now.getHours() * 60 + now.getMinutes());
  return Math.max(0, minutes * 60_000 - now.getSeconds() * 1000 - now.getMilliseconds());
}

function remember<Value>(memory: Map<string, Value>, key: string, value: Value): void {
  memory.set(key, value);
  const [oldest] = memory.keys();
  if (memory.size > KEPT && oldest !== undefined) memory.delete(oldest);
}

// One POST to a notification receiver: limited in time, never redirected, response body not read.

const LONGEST_PAUSE_MS = 3_600_000;
/** Temporary refusals: too slow, too early, too many. */
const passing = new Set([408, 425, 429]);

type Post = { url: string; headers: Record<string, string>; body: string };

async function post(
  { url, headers, body }: Post,
  {
    fetch,
    now,
    timeoutMs = TIMEOUT_MS,
  }: { fetch: typeof globalThis.fetch; now: () => Date; timeoutMs?: number },
): Promise<void> {
  const response = await send(fetch, url, {
    method: 'POST',
    headers,
    body,
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutMs),
  });
  await response.body?.cancel();
  if (response.ok) return;
  const { status } = response;
  if (status < 500 && !passing.has(status))
    throw new NotSent(`it answered HTTP ${status}`, { permanent: true });
  const waitMs = retryAfterMs(response.headers.get('retry-after'), now().getTime(), LONGEST_PAUSE_MS);
  throw new NotSent(`it answered HTTP ${status}`, { permanent: false, retryAfterMs: waitMs });
}

async function send(fetch: typeof globalThis.fetch, url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    throw new NotSent(reasonOf(error), { permanent: false });
  }
}

/** The URL may itself be a secret, so it is never part of the message. */
function reasonOf(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return 'no answer in time';
  const code = systemErrorCode(causeOf(error));
  return `the connection failed${code === undefined ? '' : ` (${code})`}`;
}

// What all notifiers share: their input, and how they fail.

type Notification = NotificationText & { effect: NotifyEffect };

/** Resolves when the receiver has accepted it; throws `NotSent`. */
type Deliver = (notification: Notification) => Promise<void>;

class NotSent extends Error {
  /** Retrying would not help: a person has to act first. */
  readonly permanent: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options: { permanent: boolean; retryAfterMs?: number | undefined }) {
    super(message);
    this.name = 'NotSent';
    this.permanent = options.permanent;
    this.retryAfterMs = options.retryAfterMs;
  }
}
