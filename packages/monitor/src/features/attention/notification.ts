// The notification about an attention item. Messages contain ticket titles and the like, which anyone may have written:
// they must not be able to control a terminal, hide text or fill a screen.
import { cutText } from '@svc/lib/cut-text';
import type { Effect } from '../../kernel/outbox/effect.ts';
import type { Config } from '../config.ts';
import { Severity } from './severity.ts';

export type NotifyEffect = Extract<Effect, { kind: 'notify' }>;

export type NotificationText = {
  /** One line: the reason and its subject. */
  title: string;
  /** Null for an item that is about no ticket of a run. */
  ticket: string | null;
  message: string;
  remedy: string | null;
  /** Message and remedy in one. */
  text: string;
};

const LONGEST_TITLE = 100;
const LONGEST_MESSAGE = 400;
const LONGEST_REMEDY = 200;

export function notificationText(
  effect: Pick<NotifyEffect, 'attention' | 'reason' | 'message' | 'remedy'>,
): NotificationText {
  // `<orchestrator or ->/<ticket or feed or ->/<reason>`
  const parts = effect.attention.split('/');
  const subject = parts.at(-2) ?? '-';
  const ticket = parts.length === 3 && parts[0] !== '-' && subject !== '-' ? plain(subject) : null;
  const about = subject === '-' ? '' : `${subject}: `;
  const title = `svc: ${cutText(plain(`${about}${effect.reason.replaceAll('-', ' ')}`), LONGEST_TITLE)}`;
  const message = cutText(plain(effect.message), LONGEST_MESSAGE);
  const remedy = effect.remedy === null ? null : cutText(plain(effect.remedy), LONGEST_REMEDY);
  return {
    title,
    ticket: ticket && cutText(ticket, LONGEST_TITLE),
    message,
    remedy,
    text: remedy === null ? message : `${message}\n${remedy}`,
  };
}

/** Whether a severity is at least another. An unknown one is sent: better once too often. */
export function isAtLeast(severity: string, least: Severity): boolean {
  const order: readonly string[] = Severity.options;
  const rank = order.indexOf(severity);
  return rank === -1 || rank >= order.indexOf(least);
}

/** One line without invisible characters. */
function plain(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim();
}

// Quiet hours, in which no notifications are sent. Local times of day, in minutes since midnight.

export type NotifyConfig = Config['svc']['notify'];

const DAY = 24 * 60;

export function isQuiet(config: NotifyConfig, localMinutes: number): boolean {
  return quietMinutesLeft(config, localMinutes) > 0;
}

/** Until the quiet hours end; 0 outside of them. If start and end are the same, there are none. */
export function quietMinutesLeft({ quietHours: { from, to } }: NotifyConfig, localMinutes: number): number {
  if (from === undefined || to === undefined) return 0;
  const start = minutesOf(from);
  const length = (minutesOf(to) - start + DAY) % DAY;
  const passed = (localMinutes - start + DAY) % DAY;
  return Math.max(0, length - passed);
}

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}
