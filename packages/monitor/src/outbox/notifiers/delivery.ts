// What all notifiers share: their input, and how they fail.
import type { NotificationText, NotifyEffect } from '@svc/core';

type Notification = NotificationText & { effect: NotifyEffect };

/** Resolves when the receiver has accepted it; throws `NotSent`. */
export type Deliver = (notification: Notification) => Promise<void>;

export class NotSent extends Error {
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
