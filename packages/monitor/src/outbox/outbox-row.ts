// One effect as the outbox keeps it.
import type { SQLOutputValue } from 'node:sqlite';
import type { Effect } from '@svc/core';

export type OutboxState = 'pending' | 'done' | 'given-up';

export type OutboxRow = {
  key: string;
  seq: number;
  kind: string;
  /** Effects of one order key are carried out one after the other. */
  orderKey: string | null;
  /** Null when what was stored cannot be read; such a row is given up. */
  effect: Effect | null;
  state: OutboxState;
  /** Attempts that have ended. */
  attempts: number;
  nextAt: number;
  /** Why the last attempt failed. */
  lastError: string | null;
  createdAt: number;
  finishedAt: number | null;
  /** What carrying it out did: `written`, `already`, … */
  outcome: string | null;
};

export function toRow(stored: Record<string, SQLOutputValue>): OutboxRow {
  return {
    key: String(stored['key']),
    seq: Number(stored['seq']),
    kind: String(stored['kind']),
    orderKey: textOrNull(stored['order_key']),
    effect: readEffect(String(stored['payload'])),
    state: toState(stored['state']),
    attempts: Number(stored['attempts']),
    nextAt: Number(stored['next_at']),
    lastError: textOrNull(stored['last_error']),
    createdAt: Number(stored['created_at']),
    finishedAt: typeof stored['finished_at'] === 'number' ? stored['finished_at'] : null,
    outcome: textOrNull(stored['outcome']),
  };
}

function textOrNull(value: SQLOutputValue | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

function toState(value: SQLOutputValue | undefined): OutboxState {
  return value === 'done' || value === 'given-up' ? value : 'pending';
}

/** The outbox wrote it itself; only damage makes it anything else. */
function readEffect(payload: string): Effect | null {
  try {
    const effect: unknown = JSON.parse(payload);
    return typeof effect === 'object' && effect !== null && 'kind' in effect ? (effect as Effect) : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
