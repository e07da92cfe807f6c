// The agent of a ticket: what it is doing, its conversation, its open requests, and what a person can do about it. And the
// agents that can be chosen on this machine.
import { z } from 'zod';
import { apiRoute, by, OfRun, TicketParams, text } from '../../kernel/http/api-route.ts';
import { AgentCost, optionKinds, WorkerAgent } from '../workers/agent-fields.ts';
import { MOST_IMAGE_BYTES, MOST_IMAGES } from './images.ts';
import { AgentLogin } from './login.ts';
import { ConversationItem } from './schemas.ts';

const AgentView = z
  .object({
    ticket: z.string(),
    orchestrator: z.string(),
    agent: WorkerAgent.nullable().describe('Null: no agent was started for this ticket yet'),
    cost: AgentCost.nullable().describe('Of all attempts; null: unknown'),
    waiting: z.array(z.string()).describe('Messages that are sent when the agent is idle'),
    attempt: z.int().nullable().describe('The attempt that the items are of; null: none was started'),
    instanceId: z.string().describe('Revisions can be compared only within one instance'),
    rev: z.int().describe('Pass as `after` to get only newer items'),
    dropped: z.int().describe('How many of the oldest items were left out'),
    items: z.array(ConversationItem).describe('Oldest first'),
    journal: z.string().nullable().describe('The file with everything that the agent wrote'),
  })
  .meta({ id: 'AgentView' });
export type AgentView = z.infer<typeof AgentView>;

const Choice = z.object({ id: z.string(), name: z.string() });
const AgentOptions = z
  .object({
    ticket: z.string(),
    orchestrator: z.string(),
    mode: z.string().nullable().describe('The permission mode that the agent reports; null: unknown'),
    modes: z
      .array(Choice.extend({ confirm: z.boolean().describe('Switching to it has to be confirmed') }))
      .describe('The permission modes that it offers'),
    model: z.string().nullable().describe('The model that the agent reports; null: unknown'),
    images: z.boolean().describe('Whether it takes images in messages'),
    models: z.array(Choice).describe('The models that it offers; empty: it cannot be changed here'),
    commands: z
      .array(z.object({ name: z.string(), description: z.string(), hint: z.string().nullable() }))
      .describe('Its own commands: a message that begins with / and the name'),
  })
  .meta({ id: 'AgentOptions' });
export type AgentOptions = z.infer<typeof AgentOptions>;

const ChangedFile = z.object({
  path: z.string(),
  from: z.string().nullable().describe('The former path of a renamed file'),
  status: z.enum(['added', 'modified', 'deleted', 'renamed', 'untracked']),
  added: z.int().nullable().describe('Lines; null: a binary file, or too large to count'),
  removed: z.int().nullable(),
  diff: z.string().describe('Unified diff; empty for a binary file or when it was left out'),
  cut: z.boolean().describe('The diff was left out because of its size'),
});
const WorktreeChanges = z
  .object({
    ticket: z.string(),
    orchestrator: z.string(),
    worktree: z.string(),
    base: z.string().describe('The branch that the changes are compared with'),
    baseSha: z.string(),
    files: z.array(ChangedFile),
    cut: z.boolean().describe('There are more files than shown'),
  })
  .meta({ id: 'WorktreeChanges' });
export type WorktreeChanges = z.infer<typeof WorktreeChanges>;

const AgentEntry = z.object({
  name: z.string(),
  builtIn: z.boolean(),
  command: z.string(),
  args: z.array(z.string()),
  mode: z.string().nullable(),
  model: z.string().nullable(),
  commands: z
    .boolean()
    .describe('Whether it knows commands of plugins; any other agent gets the text of the skill'),
  program: z.string().nullable().describe('Where the program was found; null: not installed'),
  install: z.string().nullable().describe('How to install it'),
});
export const AgentCheck = AgentEntry.extend({
  ok: z.boolean(),
  version: z.string().nullable(),
  protocolVersion: z.int().nullable(),
  capabilities: z.array(z.string()),
  login: AgentLogin,
  modes: z.array(z.string()).describe('The permission modes that it offers'),
  models: z.array(z.string()).describe('The models that it offers; empty: it does not say'),
  problem: z.string().nullable(),
  remedy: z.string().nullable(),
}).meta({ id: 'AgentCheck' });
export type AgentCheck = z.infer<typeof AgentCheck>;
const ListedAgent = AgentEntry.extend({
  default: z.boolean().describe('A run uses it if no other is chosen'),
  login: AgentLogin.describe(
    'What it answered in the last minute, else as far as it shows without starting it',
  ),
  problem: z
    .string()
    .nullable()
    .describe(
      'Why it cannot be used, as far as it shows without starting it: its program or its skill is missing',
    ),
  remedy: z.string().nullable(),
}).meta({ id: 'ListedAgent' });
export type ListedAgent = z.infer<typeof ListedAgent>;

const MOST_BASE64 = Math.ceil(MOST_IMAGE_BYTES / 3) * 4;
const ofAgent = { tag: 'agents', params: TicketParams } as const;
const KEY = 'the same key twice acts once; default: each request counts';
const asked = z.strictObject({
  ...OfRun,
  after: z.int().min(0).optional().describe('only items with a higher rev; of the same instance'),
  instanceId: z.string().optional().describe('the instance that `after` is from'),
});
const failures = ['usage', 'unknown-ticket', 'not-allowed-now', 'state-not-ready'] as const;
/** For what is read in the worktree of a ticket. */
const worktreeFailures = [...failures, 'config-invalid', 'file-unusable'] as const;
const OfProject = {
  project: text(4_096).optional().describe('the project folder; by default the settings without a project'),
};

export const agentRoutes = {
  getAgent: apiRoute({
    ...ofAgent,
    method: 'GET',
    path: '/api/workers/{ticket}/agent',
    summary: "Show what a ticket's agent is doing, its conversation and its open requests",
    verbs: ['svc agent show', 'svc agent follow'],
    query: asked.extend({
      newest: z
        .int()
        .min(1)
        .max(1_000)
        .optional()
        .describe('only so many of the newest items, and the tool calls of open requests'),
      attempt: z.int().min(1).optional().describe('the conversation of this attempt (default: the newest)'),
    }),
    answer: AgentView,
    failures: ['usage', 'unknown-ticket', 'state-not-ready', 'file-unusable'],
  }),
  streamAgent: apiRoute({
    ...ofAgent,
    method: 'GET',
    path: '/api/workers/{ticket}/agent/stream',
    summary: "Stream what a ticket's agent is doing (server-sent events)",
    description:
      'Each message is an AgentView with the items that changed since the one before, at most ten a second. A comment is sent every 15 seconds.',
    query: asked,
    answer: z.string(),
    answerType: 'text/event-stream',
    failures: ['usage', 'unknown-ticket', 'state-not-ready', 'file-unusable', 'busy'],
  }),
  answerAgent: apiRoute({
    ...ofAgent,
    method: 'POST',
    path: '/api/workers/{ticket}/agent/answer',
    summary: "Answer an agent's request for a permission or for input",
    description:
      'A permission is answered by the kind of an option that the agent offers. allow_always needs `confirm`, because the agent decides what else it then allows. A question is answered with accept and its content, or with decline.',
    verbs: ['svc agent answer'],
    body: z.strictObject({
      request: text(200).describe('the id of the request'),
      answer: z.enum([...optionKinds, 'accept', 'decline']),
      content: z
        .record(z.string().max(200), z.union([z.string().max(10_000), z.number(), z.boolean()]))
        .optional(),
      confirm: z.boolean().optional().describe('true: yes, always'),
      key: text(100).optional().describe(KEY),
      by,
      ...OfRun,
    }),
    answer: z.object({ ok: z.literal(true), answered: z.string() }),
    failures,
  }),
  messageAgent: apiRoute({
    ...ofAgent,
    method: 'POST',
    path: '/api/workers/{ticket}/agent/message',
    summary: "Send a message to a ticket's agent",
    description:
      'A running agent gets it when it is idle, or at once if it can take messages while it works. If the agent has ended, it is started again and resumes its session. A message with images waits until the agent is idle.',
    verbs: ['svc agent send'],
    body: z.strictObject({
      text: text(100_000),
      images: z
        .array(
          z.strictObject({
            name: text(200).describe('what people see'),
            data: text(MOST_BASE64).describe('base64; a PNG, JPEG, GIF or WebP'),
          }),
        )
        .max(MOST_IMAGES, `expected at most ${MOST_IMAGES} images`)
        .optional()
        .describe(`Only if the agent takes them; together at most ${MOST_IMAGE_BYTES / 1024 ** 2} MiB`),
      key: text(100).optional().describe(KEY),
      by,
      ...OfRun,
    }),
    answer: z.object({ ok: z.literal(true), queued: z.string().describe('What happens to it') }),
    failures,
  }),
  getAgentOptions: apiRoute({
    ...ofAgent,
    method: 'GET',
    path: '/api/workers/{ticket}/agent/options',
    summary: "Show the modes, models and commands that a ticket's agent offers now",
    verbs: ['svc agent options'],
    query: z.strictObject(OfRun),
    answer: AgentOptions,
    failures,
  }),
  setAgentOption: apiRoute({
    ...ofAgent,
    method: 'POST',
    path: '/api/workers/{ticket}/agent/options',
    summary: "Change the permission mode or the model of a ticket's running agent",
    description:
      'The answer has what the agent confirmed. It lasts until the process of the agent ends. A mode other than the one that the run was started with, or the one in which svc runs this agent, needs `confirm`: svc does not know whether the agent still asks in it.',
    verbs: ['svc agent set'],
    body: z.strictObject({
      setting: z.enum(['mode', 'model']),
      value: text(200).describe('the id of a mode or model that the agent offers'),
      confirm: z.boolean().optional().describe('true: also if the agent may ask less in this mode'),
      key: text(100).optional().describe(KEY),
      by,
      ...OfRun,
    }),
    answer: z.object({
      ok: z.literal(true),
      confirmed: z.boolean().describe('False: it was sent, and the agent has not answered yet'),
      mode: z.string().nullable(),
      model: z.string().nullable(),
    }),
    failures,
  }),
  stopAgent: apiRoute({
    ...ofAgent,
    method: 'POST',
    path: '/api/workers/{ticket}/agent/stop',
    summary: "Stop what a ticket's agent is doing, and cancel its open requests",
    description: 'The agent stays alive and takes messages.',
    verbs: ['svc agent stop'],
    body: z.strictObject({ by, ...OfRun }),
    answer: z.object({ ok: z.literal(true) }),
    failures,
  }),
  getChanges: apiRoute({
    ...ofAgent,
    method: 'GET',
    path: '/api/workers/{ticket}/changes',
    summary: "Show the changes in a ticket's worktree against its base",
    verbs: ['svc agent changes'],
    query: z.strictObject(OfRun),
    answer: WorktreeChanges,
    failures: worktreeFailures,
  }),
  getFiles: apiRoute({
    ...ofAgent,
    method: 'GET',
    path: '/api/workers/{ticket}/files',
    summary: "Find files of a ticket's worktree by a part of their path, to name them in a message",
    query: z.strictObject({
      ...OfRun,
      query: z.string().max(200).default('').describe('a part of the path; default: any'),
    }),
    answer: z.object({
      ticket: z.string(),
      orchestrator: z.string(),
      files: z.array(z.string()).describe('At most 50 paths, those whose file name begins with it first'),
      cut: z.boolean().describe('There are more'),
    }),
    failures: worktreeFailures,
  }),
  listAgents: apiRoute({
    method: 'GET',
    path: '/api/agents',
    tag: 'agents',
    summary: 'List the agents that a run can use',
    verbs: ['svc agents list'],
    query: z.strictObject(OfProject),
    answer: z.object({ agents: z.array(ListedAgent) }),
    failures: ['usage', 'unknown-project', 'config-invalid'],
  }),
  checkAgent: apiRoute({
    method: 'POST',
    path: '/api/agents/check',
    tag: 'agents',
    summary: 'Start an agent and ask what it can do',
    verbs: ['svc agents check'],
    body: z.strictObject({ ...OfProject, name: text(100) }),
    answer: AgentCheck,
    failures: ['usage', 'unknown-project', 'config-invalid'],
  }),
};
