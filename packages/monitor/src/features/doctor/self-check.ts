// What the daemon finds when it tries itself.

export const failedSteps = {
  write: 'a test event could not be written to the event log',
  index: 'a test event was written, but the index does not find it',
  file: 'a test event was written, but is not in its file',
} as const;

/** What the daemon has tried on itself. */
export type SelfCheck = {
  log:
    | { ok: true; seq: number; milliseconds: number }
    | { ok: false; step: keyof typeof failedSteps; why: string; remedy: string | null };
  receivers: TriedDelivery[];
  providers: { enabled: boolean; present: string[]; missing: { provider: string; variable: string }[] };
};

export type TriedDelivery =
  | { feed: string; ok: true; milliseconds: number }
  | { feed: string; ok: false; disabled: boolean; why: string; remedy: string | null };
