// Feeds: the state of each, what it missed, and whether a delivery arrives.
import { z } from 'zod';
import { apiRoute, duration, Time } from '../../kernel/http/api-route.ts';
import { feedGrades } from './topics.ts';

const FeedName = z.enum(['codehost', 'tracker']);
const milliseconds = z.number().describe('Milliseconds since 1970');
const trouble = { why: z.string().nullable(), remedy: z.string().nullable() };
const coded = { code: z.string().nullable(), ...trouble };
const mode = z.enum(['disabled', 'starting', 'polling', 'failing']);
const twoKinds = z
  .object({ exact: z.int(), reserialised: z.int() })
  .describe("exact: signature over the sender's bytes; reserialised: the relay rewrote the JSON");

const Tunnel = z
  .object({
    feeds: z.array(FeedName),
    channel: z.string().describe('A fingerprint: the URL itself is a secret'),
    grade: z.enum(feedGrades),
    since: milliseconds.nullable(),
    ...coded,
    deliveries: z.object({
      accepted: z.int(),
      duplicate: z.int(),
      unauthorised: twoKinds,
      refused: z.int(),
      malformed: z.int(),
      tooLarge: z.int(),
      failed: z.int(),
      selfTest: z.int(),
    }),
    unauthorisedLastHour: twoKinds,
    waiting: z.int().describe('Deliveries that are not processed yet'),
    connectedSince: milliseconds.nullable(),
    lastReceivedAt: milliseconds.nullable(),
    lastPingAt: milliseconds.nullable(),
    lastMessageAt: milliseconds.nullable(),
    reconnects: z.int(),
    gaps: z.int(),
    lastError: z.object({ at: milliseconds, why: z.string() }).nullable(),
    cursor: z.string().nullable().describe('Everything up to here is processed'),
  })
  .meta({ id: 'Tunnel' });

const Coverage = z.object({
  repo: z.string(),
  by: z.enum(['webhook', 'polling']),
  since: Time,
  hookId: z.int().nullable(),
  ...coded,
  retryAt: Time.nullable(),
});

const quota = { limit: z.int(), remaining: z.int() };

export type FeedsReport = z.infer<typeof FeedsReport>;
export const FeedsReport = z
  .object({
    tunnels: z.array(Tunnel),
    repos: z.array(Coverage).describe('How each watched repository is covered'),
    codehost: z.object({
      state: mode,
      lastAt: Time.nullable(),
      ...coded,
      clock: z
        .object({ aheadMs: z.number(), why: z.string(), remedy: z.string() })
        .nullable()
        .describe("Set when this machine's clock differs from the code host's"),
      calls: z.object({ made: z.int(), avoided: z.int() }),
      budget: z.object({
        calls: z.int(),
        callsInLastHour: z.int(),
        callsPerHour: z.int(),
        pausedUntil: Time.nullable(),
        quotas: z
          .record(z.string(), z.object({ resource: z.string(), ...quota, resetAt: milliseconds }).readonly())
          .readonly(),
        clockAheadMs: z.number().nullable(),
      }),
    }),
    tracker: z.object({
      state: mode,
      why: z.string().exactOptional(),
      remedy: z.string().exactOptional(),
      teams: z.array(
        z.object({
          team: z.string(),
          lastAt: Time.nullable(),
          newEvents: z.int(),
          error: z.string().nullable(),
          remedy: z.string().nullable(),
          calls: z.int(),
          quota: z.object({ ...quota, resetAt: milliseconds.optional() }).nullable(),
        }),
      ),
    }),
  })
  .meta({ id: 'FeedsReport' });

const PolledNow = z.object({
  feed: FeedName,
  name: z.string().describe('The code host, or the team or repository at the tracker'),
  state: z
    .enum(['polled', 'failed', 'running', 'disabled'])
    .describe('running: it goes on in the background, and what it finds is logged'),
  checked: z.int().nullable().describe('Pull requests and deployments, or tickets that changed'),
  newEvents: z.int().nullable().describe('Events that no delivery had reported'),
  ...trouble,
});

const Problem = z.looseObject({ kind: z.string(), message: z.string() });

export const feedRoutes = {
  getFeeds: apiRoute({
    method: 'GET',
    path: '/api/feeds',
    tag: 'feeds',
    summary: 'Show every feed with its grade, the reason and the fix',
    verbs: ['svc feeds', 'svc doctor', 'svc init'],
    answer: FeedsReport,
    failures: [],
  }),
  checkFeeds: apiRoute({
    method: 'POST',
    path: '/api/feeds/check',
    tag: 'feeds',
    summary:
      "Compare the code host's list of deliveries with the log; with `repair`, fetch what is missing and poll code host and tracker now",
    verbs: ['svc feeds check'],
    body: z.strictObject({
      // The code host keeps deliveries for 3 days.
      since: duration('a duration of at most 3d, like 1h', { most: 3 * 86_400_000 })
        .prefault('1h')
        .describe('a duration of at most 3d; default: 1h'),
      repair: z.boolean().default(false),
    }),
    answer: z.object({
      repos: z.array(
        z.object({
          repo: z.string(),
          sent: z.int(),
          received: z.int(),
          missing: z.int(),
          repaired: z.int(),
          refused: z.int(),
          problem: Problem.nullable(),
        }),
      ),
      polled: z.array(PolledNow).describe('What polling now found; empty without `repair`'),
    }),
    failures: ['usage'],
  }),
  pingFeeds: apiRoute({
    method: 'POST',
    path: '/api/feeds/ping',
    tag: 'feeds',
    summary: 'Send a signed test delivery through every live feed',
    verbs: ['svc feeds ping'],
    body: z.strictObject({
      timeout: duration('a duration from 1s to 60s', { least: 1, most: 60_000 })
        .prefault('10s')
        .describe('a duration from 1s to 60s; default: 10s'),
    }),
    answer: z.object({
      feeds: z.array(
        z.union([
          z.object({ feed: FeedName, ok: z.literal(true), milliseconds: z.number() }),
          z.object({
            feed: FeedName,
            ok: z.literal(false),
            disabled: z.boolean(),
            why: z.string(),
            remedy: z.string().nullable(),
          }),
        ]),
      ),
    }),
    failures: ['usage'],
  }),
};
