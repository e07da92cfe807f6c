// What the hook sends of an agent's event: no prompt, no tool input, no output. Only a hook that may answer also sends the
// tool input. It runs at every event, so this needs no schema; the daemon checks what it gets.
import { MOST_INPUT } from '../agents/request-limit.ts';

export const hookedAgents = ['claude', 'codex', 'gemini', 'copilot'] as const;
export type HookedAgent = (typeof hookedAgents)[number];

export const HOOK_REPORT_PATH = '/api/hooks/report';

/** Agents that take the answer to a permission request from their hook. */
export const answeringAgents = ['claude'] as const satisfies readonly HookedAgent[];

export function takesAnswers(agent: HookedAgent): agent is (typeof answeringAgents)[number] {
  return answeringAgents.some((one) => one === agent);
}
export const HOOK_ASK_PATH = '/api/hooks/ask';
/** How long a person can answer through svc. The agent asks at its terminal all the time. */
export const ANSWER_WITHIN_MS = 60_000;

/** Undefined when the event names no session or no folder. `digest` is of the tool's input. */
export function reportIn(
  agent: HookedAgent,
  event: string,
  payload: unknown,
  { digest, ...more }: { at: number; pid?: number; digest: (text: string) => string },
) {
  const fields: Record<string, unknown> = Object(payload);
  const first = (...names: string[]): string | undefined =>
    names.map((name) => fields[name]).find((value) => typeof value === 'string' && value !== '') as
      | string
      | undefined;
  const session = first('session_id', 'sessionId');
  const folder = first('cwd');
  if (session === undefined || folder === undefined) return undefined;
  const transcript = first('transcript_path', 'transcriptPath');
  const kind = first('notification_type', 'notificationType', 'source')?.slice(0, 100);
  const tool = first('tool_name', 'toolName')?.slice(0, 200);
  const input = fields['tool_input'] ?? fields['toolArgs'] ?? fields['toolInput'] ?? null;
  return {
    agent,
    event,
    session,
    folder,
    ...(kind !== undefined && { kind }),
    ...(tool !== undefined && { tool, call: digest(JSON.stringify(input)) }),
    ...(transcript?.startsWith('/') && { transcript }),
    ...(first('agent_id') !== undefined && { part: true }),
    ...more,
  };
}

/** What a hook that may answer asks the daemon; undefined when a person could not answer it. */
export function askIn(report: NonNullable<ReturnType<typeof reportIn>>, payload: unknown) {
  const { agent, session, tool, call } = report;
  const fields: Record<string, unknown> = Object(payload);
  const input = JSON.stringify(fields['tool_input'] ?? null);
  return tool === undefined || input.length > MOST_INPUT ? undefined : { agent, session, tool, call, input };
}

/** What the hook of Claude Code prints. Anything but an answer of a person is no decision. */
export function decisionFor(answer: unknown): string {
  if (answer !== 'allow_once' && answer !== 'reject_once') return '';
  const decision =
    answer === 'allow_once'
      ? { behavior: 'allow' }
      : { behavior: 'deny', message: 'A person rejected this through svc.' };
  return JSON.stringify({ hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } });
}
