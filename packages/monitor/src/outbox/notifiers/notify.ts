// Tells a person that something needs them, by every notifier that is configured.
//
// A notification may come more than once: what was told is remembered per notifier only as long as the daemon
// runs, and a receiver may have taken one whose answer was lost. Told twice is a nuisance, not told is a failure.
import {
  type Environment,
  isAtLeast,
  type NotifyConfig,
  type NotifyEffect,
  notificationText,
  quietMinutesLeft,
} from '@svc/core';
import { messageOf } from '../../log/log-errors.ts';
import { type Deliver, NotTold } from './delivery.ts';
import { createDesktopNotifier, type RunProgram } from './desktop.ts';
import { createNtfyNotifier } from './ntfy.ts';
import { createWebhookNotifier } from './webhook.ts';

/** Effects whose half-told state is remembered. */
const KEPT = 500;

/** `waiting`: nothing was tried and nothing failed, so it is no use of the outbox's patience. */
export type NotifyOutcome =
  | { done: string }
  | { failed: string; permanent: boolean; retryAfterMs: number | undefined; waiting: boolean };

export type NotifierOptions = {
  /** Asked each time: it may have changed. */
  config: () => NotifyConfig;
  fetch: typeof globalThis.fetch;
  run: RunProgram;
  now: () => Date;
  platform: string;
  environment: Environment;
  /** Whether the attention item still is. What was resolved during quiet hours is not told afterwards. */
  isOpen?: (attention: string) => boolean;
  timeoutMs?: number;
};

/** The outbox's handler of `notify`. */
export function createNotifier(options: NotifierOptions): (effect: NotifyEffect) => Promise<NotifyOutcome> {
  const { now, isOpen = () => true } = options;
  /** Per effect: who was told, and who never can be. */
  const settled = new Map<string, Map<string, NotTold | 'told'>>();

  return async (effect) => {
    const config = options.config();
    const notifiers = configured(config, options);
    if (notifiers.length === 0) return { done: 'no notifier is configured' };
    if (!isAtLeast(effect.severity, config.minSeverity))
      return { done: `not told: ${effect.severity} is below svc.notify.minSeverity` };
    if (!isOpen(effect.attention)) return { done: 'not told: it is resolved' };
    const held = quietMs(config, now());
    if (held > 0)
      return {
        failed: 'held until the quiet hours end',
        permanent: false,
        retryAfterMs: held,
        waiting: true,
      };

    const known = settled.get(effect.key) ?? new Map<string, NotTold | 'told'>();
    const notification = { ...notificationText(effect), effect };
    const results = await Promise.all(
      notifiers.map(async ({ name, deliver }) => ({
        name,
        result: known.get(name) ?? (await attempt(() => deliver(notification))),
      })),
    );
    for (const { name, result } of results)
      if (result === 'told' || result.permanent) known.set(name, result);
    const failures = results.flatMap(({ name, result }) =>
      result === 'told' ? [] : [{ name, error: result }],
    );
    const permanent = failures.every(({ error }) => error.permanent);
    if (!permanent) remember(settled, effect.key, known);
    else settled.delete(effect.key);
    if (failures.length === 0) return { done: `told by ${notifiers.map(({ name }) => name).join(', ')}` };
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

async function attempt(deliver: () => Promise<void>): Promise<'told' | NotTold> {
  try {
    await deliver();
    return 'told';
  } catch (error) {
    // A bug of one notifier must not make the others tell again.
    return error instanceof NotTold ? error : new NotTold(messageOf(error), { permanent: false });
  }
}

/** Until the end of the quiet hours, by the local clock; 0 outside of them. */
function quietMs(config: NotifyConfig, now: Date): number {
  const minutes = quietMinutesLeft(config, now.getHours() * 60 + now.getMinutes());
  return Math.max(0, minutes * 60_000 - now.getSeconds() * 1000 - now.getMilliseconds());
}

function remember<Value>(memory: Map<string, Value>, key: string, value: Value): void {
  memory.set(key, value);
  const [oldest] = memory.keys();
  if (memory.size > KEPT && oldest !== undefined) memory.delete(oldest);
}
