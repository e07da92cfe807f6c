// Who is told when something needs a person. All of it is off until somebody names it.
import { z } from 'zod';
import { FindingSeverity } from '../../feedback/findings.ts';
import { field, kinds, optionalField } from '../field.ts';

const layers = ['global'] as const;

/** What is told may be confidential, so it crosses the network only encrypted. Credentials have no place in a URL. */
export const safeUrl = {
  schema: z
    .url({ protocol: /^https?$/ })
    .regex(/^(?:https:\/\/[^@/?#\\]+|http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?)(?:[/?#]|$)/i),
  expects: 'an https URL without a password, or an http one of this machine',
};

const timeOfDay = {
  schema: z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'not HH:MM'),
  expects: 'a local time of day, HH:MM',
};

const severity = {
  schema: FindingSeverity,
  expects: `one of ${FindingSeverity.options.join(', ')}`,
};

export const Notify = z
  .object({
    desktop: z
      .object({
        enabled: field(kinds.flag, {
          layers,
          description: 'Desktop notifications (notify-send or osascript)',
          default: false,
        }),
      })
      .prefault({}),
    webhook: z
      .object({
        url: optionalField(safeUrl, {
          layers,
          description: 'URL that gets each notification as JSON',
          opens: 'notifier',
        }),
      })
      .prefault({}),
    ntfy: z
      .object({
        url: optionalField(safeUrl, {
          layers,
          description: 'Full URL of an ntfy topic',
          opens: 'notifier',
        }),
      })
      .prefault({}),
    minSeverity: field(severity, {
      layers,
      description: 'Least severity that is told',
      default: 'medium',
    }),
    quietHours: z
      .object({
        from: optionalField(timeOfDay, { layers, description: 'Nothing is told from this local time on' }),
        to: optionalField(timeOfDay, {
          layers,
          description: 'What was held is told from this local time on; may be past midnight',
        }),
      })
      .prefault({}),
  })
  .prefault({});
