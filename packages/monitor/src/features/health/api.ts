// The health of every component.
import { z } from 'zod';
import { AccessHealth } from '../../kernel/access/access-health.ts';
import { ConfigProblem } from '../../kernel/config/reported-problem.ts';
import { apiRoute, Seq, Time } from '../../kernel/http/api-route.ts';
import { DaemonAnswer } from '../../kernel/instance/daemon-identity.ts';
import { OutboxFigures } from '../../kernel/outbox/api.ts';
import { Times } from '../../kernel/telemetry/recent-times.ts';
import { Finding } from '../doctor/api.ts';
import { FeedsReport } from '../feeds/api.ts';
import { Telemetry } from '../otel/api.ts';
import { RuleFollower } from '../rules/api.ts';
import { TeamStatus } from '../team/api.ts';

const trouble = {
  why: z.string().exactOptional().describe('Only when it is degraded'),
  remedy: z.string().exactOptional(),
};

const part = { state: z.enum(['live', 'degraded']), ...trouble };

const Receiver = z.object({
  receiver: z.enum(['ready', 'disabled', 'degraded']).describe('degraded: the secret cannot be used'),
  ...trouble,
  lastAcceptedAt: Time.nullable(),
  outcomes: z.record(z.string(), z.int()).describe('Deliveries by outcome'),
});

/** Each kind has its own fields. */
const LogNotice = z.looseObject({ kind: z.string(), at: Time });

const LogHealth = z.object({
  ...part,
  queued: z.int(),
  commits: z.int(),
  lines: z.int(),
  bytes: z.int(),
  failedCommits: z.int(),
  lastCommitMs: z.number(),
  lastSeq: Seq,
  file: z.string(),
  fileBytes: z.int(),
  failing: z.string().nullable(),
  clockBehindMs: z.number(),
  indexedTo: Seq,
  indexFailing: z.string().nullable(),
  rebuilding: z.boolean(),
  recentDeliveries: z.int(),
  tailReaders: z.int(),
  corruptLines: z.int(),
  fileChanged: z.boolean().describe('The file changed since the last commit'),
  missing: z
    .array(z.object({ from: Seq, to: Seq }))
    .describe('Events lost from the log, until a person accepts the loss'),
  indexLag: z.int(),
  notices: z.array(LogNotice),
});

const ClockHealth = z.object({
  ...part,
  lateUntil: Time.nullable().describe(
    'The clock was set back: events get this time until the clock reaches it',
  ),
});

const StateHealth = z.object({
  ...part,
  state: z.enum(['live', 'connecting', 'degraded']),
  seq: Seq,
  logSeq: Seq.describe('The last event in the log'),
  ready: z.boolean(),
  cursor: Seq,
  backlog: z.int(),
  snapshotSeq: Seq,
  brokenLines: z.int(),
  degraded: z.string().nullable(),
  snapshots: z.object({ count: z.int(), bytes: z.int() }),
});

const SignalsHealth = z.object({
  ...part,
  files: z.int().exactOptional().describe('Absent until the runs folder is watched'),
  corrupt: z.int().exactOptional(),
  corruptFiles: z.array(z.string()).exactOptional().describe('The first ten of them'),
  ignored: z.int().exactOptional().describe('Unsafe names, and what is not a regular file'),
  ignoredFiles: z.array(z.string()).exactOptional().describe('The first ten of them'),
  lastScanAt: Time.nullable().exactOptional(),
  problem: z.string().nullable().exactOptional(),
});

export type Health = z.infer<typeof Health>;

const Health = DaemonAnswer.extend({
  status: z.enum(['ok', 'degraded']),
  findings: z.array(Finding).describe('What is wrong, off and well, the worst first'),
  now: Time,
  configuration: z.object({ folders: z.array(z.string()), problems: z.array(ConfigProblem) }),
  access: AccessHealth,
  feeds: z.object({ codehost: Receiver, tracker: Receiver }),
  dataRoot: z.object(part),
  log: LogHealth,
  clock: ClockHealth,
  state: StateHealth,
  outbox: OutboxFigures.extend(part),
  signals: SignalsHealth,
  runs: z.object({ ...part, agents: z.int() }),
  rules: RuleFollower.omit({ problem: true }).extend(part),
  sessions: z.object(part),
  spool: z.object({ rejected: z.int(), ...trouble }),
  team: TeamStatus.pick({ refused: true, published: true, pending: true })
    .extend({ ...part, state: z.enum(['live', 'connecting', 'degraded']) })
    .exactOptional()
    .describe('Absent on a machine that is in no team'),
  sources: FeedsReport,
  telemetry: Telemetry,
}).meta({ id: 'Health' });

export const healthRoutes = {
  getHealth: apiRoute({
    method: 'GET',
    path: '/api/health',
    tag: 'health',
    summary: 'Show the health of every component, with the reason and the fix',
    verbs: [
      'svc monitor start',
      'svc monitor stop',
      'svc monitor restart',
      'svc monitor status',
      'svc open',
      'svc check-project-setup',
      'svc doctor',
      'svc init',
    ],
    answer: Health,
    failures: [],
  }),
};

export type Figures = z.infer<typeof Figures>;

const Figures = z
  .object({
    since: Time.describe('When the daemon started; counts start there'),
    codehost: z.object({
      calls: z.int(),
      callsInLastHour: z.int(),
      callsPerHour: z.int().describe('The limit that svc sets itself'),
      avoided: z.int().describe('Calls that polling everything every 30 seconds would have added'),
      quotas: z.record(z.string(), z.object({ limit: z.int(), remaining: z.int(), resetsAt: Time })),
      pausedUntil: Time.nullable(),
    }),
    tracker: z.object({ poll: z.int(), move: z.int() }),
    deliveries: Times.describe('Accepted deliveries, from the request to the answer'),
    commits: Times.describe('Group commits of the event log'),
    lines: z.int().describe('Events written to the log'),
  })
  .meta({ id: 'Figures' });

export const figuresRoutes = {
  getFigures: apiRoute({
    method: 'GET',
    path: '/api/figures',
    tag: 'telemetry',
    summary: 'Show code host calls made and avoided, quotas, and delivery times',
    verbs: ['svc telemetry figures'],
    query: z.strictObject({}),
    answer: Figures,
    failures: ['usage'],
  }),
  getMetrics: apiRoute({
    method: 'GET',
    path: '/metrics',
    tag: 'telemetry',
    summary: 'Show all metrics in the Prometheus text format',
    answer: z.string(),
    answerType: 'text/plain',
    failures: [],
  }),
};
