// A signal file as a line of the log tells it: whole, or, when it is too large, with the known fields only and
// their texts cut, so that what the line is about never has to give way to what a worker added.
import type { z } from 'zod';
import { cutText, utf8Length } from '../log/cut-text.ts';
import { DeployAttempt, SignalDeploy, SignalFile, SignalPullRequest } from './signal-file.ts';

const MAX_SIGNAL_BYTES = 24 * 1024;
/** A line whose detail is nested deeper is not folded. */
const MAX_DEPTH = 24;
/** The greatest length of texts that fits is taken; the last one always fits. */
const TEXT_LENGTHS = [1_000, 200, 48];
const MAX_ATTEMPTS = 10;
/** For fields whose inside is the worker's own: the whole field or nothing of it. */
const MAX_FREE_BYTES = 4 * 1024;
const freeFields = ['verification', 'phaseTimestamps'];

export type ToldSignal = { signal: SignalFile; cut: boolean };

/** The same for what was told before: telling it again changes nothing. */
export function toldSignal(signal: SignalFile): ToldSignal {
  if (fits(signal, MAX_SIGNAL_BYTES)) return { signal, cut: false };
  for (const length of TEXT_LENGTHS) {
    const known = knownFields(signal, length);
    if (fits(known, MAX_SIGNAL_BYTES)) return { signal: known, cut: true };
  }
  throw new Error('A signal of known fields and short texts is too large for a line.');
}

function knownFields(signal: SignalFile, length: number): SignalFile {
  const known = pickKnown(SignalFile, signal, length);
  for (const name of freeFields) {
    const free = signal[name];
    if (free !== null && free !== undefined && fits(free, MAX_FREE_BYTES)) known[name] = free;
    else delete known[name];
  }
  if (signal.pr) known['pr'] = pickKnown(SignalPullRequest, signal.pr, length);
  if (signal.deploy) {
    const deploy = pickKnown(SignalDeploy, signal.deploy, length);
    const attempts = signal.deploy.attempts?.slice(-MAX_ATTEMPTS);
    if (attempts) deploy['attempts'] = attempts.map((attempt) => pickKnown(DeployAttempt, attempt, length));
    known['deploy'] = deploy;
  }
  if (signal.cost) {
    const { usd, inputTokens, outputTokens } = signal.cost;
    known['cost'] = { usd, inputTokens, outputTokens };
  }
  return known as SignalFile;
}

function pickKnown(
  schema: z.ZodObject,
  values: Record<string, unknown>,
  length: number,
): Record<string, unknown> {
  const known: Record<string, unknown> = {};
  for (const name of Object.keys(schema.shape)) {
    const value = values[name];
    if (value !== undefined) known[name] = typeof value === 'string' ? shorter(value, length) : value;
  }
  return known;
}

const longTime = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.(\d{3})\d*(Z|[+-]\d\d:?\d\d)$/;

/** A time with endless decimals stays a time; every other text is cut and marked. */
export function shorter(text: string, length: number): string {
  return text.length <= 40 ? text : cutText(text.replace(longTime, '$1.$2$3'), length);
}

function fits(value: unknown, maxBytes: number): boolean {
  if (depthExceeds(value, MAX_DEPTH)) return false;
  const text = JSON.stringify(value);
  return text.length <= maxBytes && utf8Length(text) <= maxBytes;
}

function depthExceeds(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth === 0 || Object.values(value).some((child) => depthExceeds(child, depth - 1));
}
