// What every notifier has in common: what it is given, and how it fails.
import type { NotificationText, NotifyEffect } from '@svc/core';

export type Notification = NotificationText & { effect: NotifyEffect };

/** Resolves when the other side has taken it; throws `NotTold`. */
export type Deliver = (notification: Notification) => Promise<void>;

export class NotTold extends Error {
  /** Trying again would change nothing: a person has to do something first. */
  readonly permanent: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options: { permanent: boolean; retryAfterMs?: number | undefined }) {
    super(message);
    this.name = 'NotTold';
    this.permanent = options.permanent;
    this.retryAfterMs = options.retryAfterMs;
  }
}
