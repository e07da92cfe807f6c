// Agents that people start themselves report by hooks: commands that the agent runs when something happens. What each
// agent's events mean for its session, and what svc keeps of them (see `hook-event.ts`).
import { jsonIn } from '@svc/contract/payload-fields';
import { z } from 'zod';
import { MOST_INPUT } from '../agents/request-limit.ts';
import type { AgentRequest } from '../workers/agent-fields.ts';
import { answeringAgents, type HookedAgent, hookedAgents } from './hook-event.ts';

export const sessionStates = [
  'running',
  'needs-permission',
  'needs-input',
  'idle',
  'ended',
  'unknown',
] as const;
type SessionState = (typeof sessionStates)[number];

/** How the state of a session is known. */
export const sessionSources = ['hook', 'process', 'unknown'] as const;

const absolutePath = z
  .string()
  .max(4_096)
  // oxlint-disable-next-line no-control-regex
  .regex(/^\/[^\u0000-\u001f\u007f]*$/, 'expected an absolute path');

/** What the hook sends to the daemon. */
export const HookReport = z.strictObject({
  agent: z.enum(hookedAgents),
  event: z.string().max(100).describe('As the agent calls it'),
  session: z
    .string()
    .regex(/^[\w.:-]{1,200}$/)
    .describe('The id that the agent gave its session'),
  folder: absolutePath.describe('Where the agent works'),
  kind: z.string().max(100).optional().describe('The type of a notification, or why the session started'),
  tool: z.string().max(200).optional(),
  call: z.string().max(100).optional().describe('Equal for equal inputs of the tool'),
  part: z.boolean().optional().describe('A subagent, not the agent itself'),
  pid: z.int().positive().optional().describe("The agent's process"),
  transcript: absolutePath.optional().describe('The file in which the agent keeps the session'),
  at: z
    .number()
    .nonnegative()
    .describe("When the hook started, in milliseconds of the machine's monotonic clock"),
});
export type HookReport = z.infer<typeof HookReport>;

/** What a hook that may answer asks; the same event is reported besides. */
export const HookAsk = HookReport.pick({ session: true, tool: true, call: true })
  .required()
  .extend({
    agent: z.enum(answeringAgents),
    input: z.string().max(MOST_INPUT).describe('The input of the tool, as JSON'),
  });
export type HookAsk = z.infer<typeof HookAsk>;

export function requestOf(request: string, { tool, input }: HookAsk): AgentRequest {
  return {
    request,
    kind: 'permission',
    title: tool,
    tool: null,
    toolKind: null,
    paths: [],
    command: commandIn(input),
    options: [
      { kind: 'allow_once', name: 'Allow' },
      { kind: 'reject_once', name: 'Reject' },
    ],
    fields: [],
  };
}

/** The command alone only if the input has nothing else that matters. */
function commandIn(input: string): string {
  const { command, description: _, ...others } = jsonIn(input) ?? {};
  return typeof command === 'string' && Object.keys(others).length === 0 ? command : input;
}

/** What an event means. `asks` and `continues` are about one tool; other tools may still be waiting. */
type Meaning =
  | 'running'
  | 'idle'
  | 'ended'
  | 'asks permission'
  | 'asks input'
  | 'continues'
  | 'only folder'
  | 'nothing';

type Events = Readonly<Record<string, Meaning | ((report: HookReport) => Meaning)>>;

/** After a compaction the turn goes on. */
const begins = ({ kind }: HookReport): Meaning => (kind === 'compact' ? 'nothing' : 'idle');

/** The events that svc has a hook for. */
const events: Readonly<Record<HookedAgent, Events>> = {
  claude: {
    SessionStart: begins,
    UserPromptSubmit: 'running',
    PermissionRequest: ({ tool }) => (tool === 'AskUserQuestion' ? 'asks input' : 'asks permission'),
    PermissionDenied: 'continues',
    PostToolUse: 'continues',
    PostToolUseFailure: 'continues',
    Elicitation: 'asks input',
    ElicitationResult: 'continues',
    Notification: ({ kind }) => (kind === 'idle_prompt' ? 'idle' : 'nothing'),
    CwdChanged: 'only folder',
    Stop: 'idle',
    StopFailure: 'idle',
    SessionEnd: 'ended',
  },
  codex: {
    SessionStart: begins,
    UserPromptSubmit: 'running',
    PermissionRequest: 'asks permission',
    PostToolUse: 'continues',
    Interrupt: 'idle',
    Stop: 'idle',
    SessionEnd: 'ended',
  },
  gemini: {
    SessionStart: begins,
    BeforeAgent: 'running',
    Notification: ({ kind }) => (kind === 'ToolPermission' ? 'asks permission' : 'nothing'),
    BeforeTool: 'running',
    AfterTool: 'running',
    AfterAgent: 'idle',
    SessionEnd: 'ended',
  },
  copilot: {
    sessionStart: begins,
    userPromptSubmitted: 'running',
    notification: ({ kind }) =>
      kind === 'permission_prompt'
        ? 'asks permission'
        : kind === 'elicitation_dialog'
          ? 'asks input'
          : 'nothing',
    postToolUse: 'running',
    agentStop: 'idle',
    sessionEnd: 'ended',
  },
};

export function hookEvents(agent: HookedAgent): string[] {
  return Object.keys(events[agent]);
}

/** `answered`: a person has answered its request through svc. */
export type NotedReport = HookReport & { answered?: boolean };

/** What the reports of a session add up to. */
type Heard = {
  state: SessionState;
  folder: string | null;
  /** The tool that it asks permission for, if it asks. */
  tool: string | null;
  /** The permission requests that were not answered, as far as the agent reports it. */
  asks: NotedReport[];
};

type Waiting = { report: NotedReport; state: 'needs-permission' | 'needs-input' };

/**
 * The state after the reports, in the order in which the hooks started: a report may arrive late. `unknown` while none of
 * them says anything.
 */
export function heardFrom(reports: readonly NotedReport[]): Heard {
  let state: SessionState = 'unknown';
  let folder: string | null = null;
  let waiting: Waiting[] = [];
  for (const report of reports.toSorted((one, other) => one.at - other.at)) {
    const meaning = meaningOf(report);
    // What a tool of an ended session still reports changes nothing; a resumed session starts again.
    if (meaning === 'nothing' || (state === 'ended' && meaning !== 'idle' && meaning !== 'running')) continue;
    folder = report.folder;
    switch (meaning) {
      case 'asks permission':
      case 'asks input':
        waiting.push({ report, state: meaning === 'asks input' ? 'needs-input' : 'needs-permission' });
        break;
      case 'continues':
        waiting = withoutCall(waiting, report);
        // A subagent may still work after the agent has answered.
        if (!report.part || state !== 'idle') state = 'running';
        break;
      case 'running':
      case 'idle':
      case 'ended':
        waiting = [];
        state = meaning;
        break;
      case 'only folder':
    }
  }
  const open = waiting.filter(({ report }) => report.answered !== true);
  const [oldest] = open;
  return {
    state: oldest?.state ?? (waiting.length > 0 ? 'running' : state),
    folder,
    tool: oldest?.report.tool ?? null,
    asks: open.filter((one) => one.state === 'needs-permission').map(({ report }) => report),
  };
}

function meaningOf(report: HookReport): Meaning {
  const known = Object.hasOwn(events[report.agent], report.event) && events[report.agent][report.event];
  if (!known) return 'nothing';
  return typeof known === 'string' ? known : known(report);
}

/** A tool that has run no longer waits. The person may have changed its input. */
function withoutCall(waiting: readonly Waiting[], { tool, call }: HookReport): Waiting[] {
  const isSame = waiting.findIndex(({ report }) => report.tool === tool && report.call === call);
  const at = isSame < 0 ? waiting.findIndex(({ report }) => report.tool === tool) : isSame;
  return at < 0 ? [...waiting] : waiting.toSpliced(at, 1);
}

/** What an agent writes into its transcript when a person answers or interrupts it; no hook reports that. */
const answers: Readonly<Record<HookedAgent, { request: readonly string[]; turn: readonly string[] }>> = {
  claude: {
    request: ["doesn't want to proceed with this tool use"],
    turn: ['[Request interrupted by user'],
  },
  codex: { request: [], turn: [] },
  gemini: { request: ['"type":"user"'], turn: [] },
  copilot: { request: ['"type":"permission.completed"'], turn: ['"type":"abort"'] },
};

/** Whether a person has answered or interrupted the agent, by what its transcript has since its last report. */
export function isAnsweredIn(agent: HookedAgent, state: SessionState, text: string): boolean {
  const { request, turn } = answers[agent];
  const isWaiting = state === 'needs-permission' || state === 'needs-input';
  return [...turn, ...(isWaiting ? request : [])].some((sign) => text.includes(sign));
}
