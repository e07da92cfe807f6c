// The kinds of values that machines of a team share.
import type { z } from 'zod';
import { AttentionItem, Run, Session, Worker } from '../api/entities.ts';

const values = { run: Run, worker: Worker, session: Session, attention: AttentionItem };

export const sharedKinds = ['run', 'worker', 'session', 'attention'] as const;
export type SharedKind = (typeof sharedKinds)[number];
export type SharedOf<Kind extends SharedKind> = z.infer<(typeof values)[Kind]>;
/** The value of a kind. */
export type SharedValue = { [Kind in SharedKind]: { kind: Kind; value: SharedOf<Kind> } }[SharedKind];
export type SharedThing = SharedValue & { key: string };

export function isSharedKind(kind: string): kind is SharedKind {
  return sharedKinds.some((one) => one === kind);
}

/** Undefined if it is not a value of this kind. */
export function readShared(kind: SharedKind, value: unknown): SharedValue | undefined {
  const read = values[kind].safeParse(value);
  return read.success ? ({ kind, value: read.data } as SharedValue) : undefined;
}
