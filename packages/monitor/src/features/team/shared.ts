// The kinds of values that machines of a team share.
import { cutText } from '@svc/lib/cut-text';
import type { z } from 'zod';
import { AttentionItem } from '../attention/entity.ts';
import { TeamWorker } from '../board/team-entity.ts';
import { isPlainCommand } from '../helper-topics.ts';
import { Run } from '../runs/entity.ts';
import { Session } from '../sessions/entity.ts';

const values = { run: Run, worker: TeamWorker, session: Session, attention: AttentionItem };

const sharedKinds = ['run', 'worker', 'session', 'attention'] as const;
export type SharedKind = (typeof sharedKinds)[number];
export type SharedOf<Kind extends SharedKind> = z.infer<(typeof values)[Kind]>;
/** The value of a kind. */
export type SharedValue = { [Kind in SharedKind]: { kind: Kind; value: SharedOf<Kind> } }[SharedKind];
export type SharedThing = SharedValue & { key: string };

export function isSharedKind(kind: string): kind is SharedKind {
  return sharedKinds.some((one) => one === kind);
}

/** Longest text in a shared value, as of a message elsewhere. */
const LONGEST_SHARED_TEXT = 2_000;
/** Longest title of a ticket. */
const LONGEST_SHARED_TITLE = 200;

/**
 * Undefined if it is not a value of this kind, or has a text that is too long. A person may paste a command into a shell, so
 * one of another machine is dropped unless it is an svc command with plain arguments.
 */
export function readShared(kind: SharedKind, value: unknown): SharedValue | undefined {
  const read = values[kind].safeParse(value);
  if (!read.success || !hasShortTexts(read.data)) return undefined;
  const shared = { kind, value: read.data } as SharedValue;
  if (shared.kind === 'worker') {
    const worker = withShortTitle(shared.value);
    return { kind: 'worker', value: { ...worker, waitsFor: withPlainCommand(worker.waitsFor) } };
  }
  if (shared.kind !== 'attention' || isPlainRemedy(shared.value.remedy)) return shared;
  return { kind: 'attention', value: { ...shared.value, remedy: null } };
}

/** A plain svc command. With a choice behind it: `svc agent answer ENG-1 allow (or reject)`. */
export function isPlainRemedy(remedy: string | null): boolean {
  return isPlainCommand(remedy?.replace(/ \(or reject\)$/, ''));
}

/** What a shell could run is dropped: the command after "a person:", or all of it. */
function withPlainCommand(waitsFor: string | null): string | null {
  const [, before = '', command] = /^(.*?\ba person): (.*)$/s.exec(waitsFor ?? '') ?? [];
  const isPlain = command === undefined || isPlainRemedy(command);
  const text = isPlain ? waitsFor : before;
  return text === null || /[`$|&;<>\\\n\r]/.test(text) ? null : text;
}

export function withShortTitle(worker: SharedOf<'worker'>): SharedOf<'worker'> {
  const { title, ...rest } = worker;
  return typeof title === 'string' ? { ...rest, title: cutText(title, LONGEST_SHARED_TITLE) } : rest;
}

function hasShortTexts(value: unknown): boolean {
  if (typeof value === 'string') return value.length <= LONGEST_SHARED_TEXT;
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, part]) => hasShortTexts(name) && hasShortTexts(part));
}

/** As it may be shared: every text cut to the longest length. */
export function withShortTexts<Value>(value: Value): Value {
  if (typeof value === 'string') return cutText(value, LONGEST_SHARED_TEXT) as Value;
  if (typeof value !== 'object' || value === null || hasShortTexts(value)) return value;
  if (Array.isArray(value)) return value.map(withShortTexts) as Value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, withShortTexts(part)]),
  ) as Value;
}
