// The table of neutral and real vendor names. The neutral names are the interface and always work; the real ones are
// accepted too, so the product works with the real services unchanged. No other file contains the real name of a pair.

/** Headers that a delivery may carry, by neutral name. */
const headers = {
  'X-Codehost-Event': ['x-codehost-event', 'x-github-event'],
  'X-Codehost-Delivery': ['x-codehost-delivery', 'x-github-delivery'],
  'X-Hub-Signature-256': ['x-hub-signature-256'],
  'Tracker-Event': ['tracker-event', 'linear-event'],
  'Tracker-Delivery': ['tracker-delivery', 'linear-delivery'],
  'Tracker-Signature': ['tracker-signature', 'linear-signature'],
} as const satisfies Record<string, readonly string[]>;

const providers: readonly Pair[] = [
  ['provider-a', 'anthropic'],
  ['provider-b', 'openai'],
  ['provider-c', 'grok'],
];

const paths: readonly Pair[] = [['/api/webhook/tracker', '/api/webhook/linear']];

const commands: readonly Pair[] = [['resolve-tracker-ids.sh', 'resolve-linear-ids.sh']];

/** `svc.monitor.github.*` and `svc.monitor.linear.*` are not in it: those are literal keys of the interface. */
const keys: readonly Pair[] = [
  ['svc.tracker', 'svc.linear'],
  ['svc.feedback.codehostRepo', 'svc.feedback.githubRepo'],
  ...providers.map(([neutral, real]): Pair => [`svc.ai.providers.${neutral}`, `svc.ai.providers.${real}`]),
];

type Pair = readonly [neutral: string, real: string];

/** A header that a delivery may carry, by its neutral name. */
export type DeliveryHeader = keyof typeof headers;

/** Headers as Node gives them: names in lower case. */
export type ReceivedHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * The value of a header under its neutral or its real name, the neutral one first; blank counts as absent.
 * `headerValue(request.headers, 'X-Codehost-Delivery')`
 */
export function headerValue(received: ReceivedHeaders, name: DeliveryHeader): string | undefined {
  for (const spelling of headers[name]) {
    const value = received[spelling];
    const text = (typeof value === 'string' ? value : value?.[0])?.trim();
    if (text) return text;
  }
  return undefined;
}

/** `anthropic` and `provider-a` are both `provider-a`; a name that is neither stays as it is. */
export function neutralProvider(name: string): string {
  return neutralOf(providers, name);
}

/** The real name of a provider, by either name; undefined if there is no such provider. */
export function realProvider(name: string): string | undefined {
  return providers.find((pair) => pair.includes(name))?.[1];
}

/** `/api/webhook/linear` is `/api/webhook/tracker`; every other path stays as it is. */
export function canonicalPath(path: string): string {
  return neutralOf(paths, path);
}

/** Every path under which a route answers, the neutral one first. */
export function spellingsOfPath(path: string): readonly string[] {
  return paths.find(([neutral]) => neutral === path) ?? [path];
}

/** `resolve-linear-ids.sh` is `resolve-tracker-ids.sh`; every other command stays as it is. */
export function canonicalCommand(name: string): string {
  return neutralOf(commands, name);
}

/** `svc.linear.teamKey` is `svc.tracker.teamKey`; every other configuration key stays as it is. */
export function canonicalKey(key: string): string {
  for (const [neutral, real] of keys) {
    if (key === real || key.startsWith(`${real}.`)) return neutral + key.slice(real.length);
  }
  return key;
}

function neutralOf(pairs: readonly Pair[], name: string): string {
  return pairs.find(([, real]) => real === name)?.[0] ?? name;
}
