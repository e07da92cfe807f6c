// Who is notified when something needs a person. Every channel is off until it is configured.
import { z } from 'zod';
import { field, inGlobal, kinds, optionalField } from '../../kernel/config/field.ts';
import { Severity } from './severity.ts';

/** A notification may be confidential, so it crosses the network only encrypted. A URL must not hold credentials. */
export const safeUrl = {
  schema: z
    .url({ protocol: /^https?$/ })
    .regex(/^(?:https:\/\/[^@/?#\\]+|http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?)(?:[/?#]|$)/i),
  expects: 'an https URL without a password, or an http URL on this machine',
};

const timeOfDay = {
  schema: z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'not HH:MM'),
  expects: 'a local time of day, HH:MM',
};

const severity = {
  schema: Severity,
  expects: `one of ${Severity.options.join(', ')}`,
};

const Notify = z
  .object({
    desktop: z
      .object({
        enabled: field(kinds.flag, {
          layers: inGlobal,
          description: 'Show desktop notifications (notify-send or osascript)',
          default: false,
        }),
      })
      .prefault({}),
    webhook: z
      .object({
        url: optionalField(safeUrl, {
          layers: inGlobal,
          description: 'URL to which each notification is posted as JSON',
          opens: 'notifier',
        }),
      })
      .prefault({}),
    ntfy: z
      .object({
        url: optionalField(safeUrl, {
          layers: inGlobal,
          description: 'Full URL of an ntfy topic',
          opens: 'notifier',
        }),
      })
      .prefault({}),
    minSeverity: field(severity, {
      layers: inGlobal,
      description: 'Lowest severity that sends a notification',
      default: 'medium',
    }),
    quietHours: z
      .object({
        from: optionalField(timeOfDay, {
          layers: inGlobal,
          description: 'Local time at which quiet hours start',
        }),
        to: optionalField(timeOfDay, {
          layers: inGlobal,
          description: 'Local time at which quiet hours end and held notifications are sent',
        }),
      })
      .prefault({}),
  })
  .prefault({});

export const attentionKeys = { notify: Notify };
