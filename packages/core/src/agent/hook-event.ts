// What the hook sends of an agent's event: no prompt, no tool input, no output. It runs at every event, so this needs no
// schema; the daemon checks the report.

export const hookedAgents = ['claude', 'codex', 'gemini', 'copilot'] as const;
export type HookedAgent = (typeof hookedAgents)[number];

export const HOOK_REPORT_PATH = '/api/hooks/report';

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
