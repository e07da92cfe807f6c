// What differs between a stream and its plan, in words and as the configuration to send. A limit is only made
// smaller when that was asked for expressly: the server would drop at once what no longer fits.
import { isDeepStrictEqual } from 'node:util';
import type { StreamPlan } from './stream-plan.ts';

type Configuration = Readonly<Record<string, unknown>>;

export type StreamChanges = {
  /** Undefined: the stream is as planned. */
  configuration: Configuration | undefined;
  changed: string[];
  /** Wished for, and not done. */
  kept: string[];
};

const limits: ReadonlySet<string> = new Set(['max_age', 'max_msgs_per_subject', 'max_bytes']);

export function newStream(plan: StreamPlan): Configuration {
  return { name: plan.name, ...plan.initial, ...defined(plan.asked), ...plan.fixed };
}

export function changesOf(plan: StreamPlan, existing: Configuration, shrink: boolean): StreamChanges {
  const changed: string[] = [];
  const kept: string[] = [];
  const configuration: Record<string, unknown> = { ...existing };
  for (const [field, wished] of Object.entries({ ...defined(plan.asked), ...plan.fixed })) {
    const present = existing[field];
    if (agrees(present, wished)) continue;
    const words = `${field} ${JSON.stringify(present)} -> ${JSON.stringify(wished)}`;
    if (limits.has(field) && isSmaller(wished, present) && !shrink) {
      kept.push(`${words}: a smaller limit drops deliveries, so it must be asked for with shrink`);
      continue;
    }
    configuration[field] = wished;
    changed.push(words);
  }
  return { configuration: changed.length === 0 ? undefined : configuration, changed, kept };
}

function defined(fields: Configuration): Configuration {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** The server adds fields of its own to an object, and leaves out what is empty. */
function agrees(present: unknown, wished: unknown): boolean {
  if (isRecord(present) && isRecord(wished))
    return Object.entries(wished).every(([key, value]) => isDeepStrictEqual(present[key], value));
  return isDeepStrictEqual(present, wished);
}

/** 0 and -1 are no limit at all. */
function isSmaller(wished: unknown, present: unknown): boolean {
  if (typeof wished !== 'number' || wished <= 0) return false;
  return typeof present !== 'number' || present <= 0 || wished < present;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
