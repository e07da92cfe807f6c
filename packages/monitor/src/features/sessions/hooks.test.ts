import { expect, test } from 'vitest';
import { decisionFor, hookedAgents, reportIn } from './hook-event.ts';
import { HookReport, heardFrom, hookEvents, isAnsweredIn, requestOf } from './hooks.ts';

const FOLDER = '/home/ann/web';

/** Reports in the order in which their hooks started, a second apart. */
function reports(agent: HookReport['agent'], ...events: (string | Partial<HookReport>)[]): HookReport[] {
  return events.map((event, at) => ({
    agent,
    event: '',
    session: 's-1',
    folder: FOLDER,
    at: at * 1000,
    ...(typeof event === 'string' ? { event } : event),
  }));
}
const stateAfter = (...given: Parameters<typeof reports>): string => heardFrom(reports(...given)).state;

const bash = { event: 'PermissionRequest', tool: 'Bash', call: 'one' };

test('a session of each agent works, waits, goes on, is idle and ends', () => {
  const days: Record<HookReport['agent'], [Partial<HookReport>, string][]> = {
    claude: [
      [{ event: 'SessionStart', kind: 'startup' }, 'idle'],
      [{ event: 'UserPromptSubmit' }, 'running'],
      [bash, 'needs-permission'],
      [{ event: 'PostToolUse', tool: 'Bash', call: 'one' }, 'running'],
      [{ event: 'PermissionRequest', tool: 'AskUserQuestion', call: 'two' }, 'needs-input'],
      [{ event: 'PostToolUse', tool: 'AskUserQuestion', call: 'two' }, 'running'],
      [{ event: 'Stop' }, 'idle'],
      [{ event: 'SessionEnd' }, 'ended'],
    ],
    codex: [
      [{ event: 'SessionStart', kind: 'startup' }, 'idle'],
      [{ event: 'UserPromptSubmit' }, 'running'],
      [bash, 'needs-permission'],
      [{ event: 'PostToolUse', tool: 'Bash', call: 'one' }, 'running'],
      [{ event: 'Interrupt' }, 'idle'],
      [{ event: 'SessionEnd' }, 'ended'],
    ],
    gemini: [
      [{ event: 'SessionStart', kind: 'startup' }, 'idle'],
      [{ event: 'BeforeAgent' }, 'running'],
      [{ event: 'Notification', kind: 'ToolPermission' }, 'needs-permission'],
      [{ event: 'BeforeTool', tool: 'run_shell_command' }, 'running'],
      [{ event: 'AfterAgent' }, 'idle'],
      [{ event: 'SessionEnd' }, 'ended'],
    ],
    copilot: [
      [{ event: 'sessionStart', kind: 'new' }, 'idle'],
      [{ event: 'userPromptSubmitted' }, 'running'],
      [{ event: 'notification', kind: 'permission_prompt' }, 'needs-permission'],
      [{ event: 'postToolUse', tool: 'bash' }, 'running'],
      [{ event: 'agentStop' }, 'idle'],
      [{ event: 'sessionEnd' }, 'ended'],
    ],
  };
  for (const agent of hookedAgents) {
    const day = days[agent];
    day.forEach(([, state], at) => {
      const events = day.slice(0, at + 1).map(([event]) => event);
      expect(stateAfter(agent, ...events), `${agent} ${events.at(-1)?.event}`).toBe(state);
    });
    for (const [{ event }] of day) expect(hookEvents(agent)).toContain(event);
  }
});

test('the order in which reports arrive does not matter', () => {
  const [start, asked, ran, stopped] = reports(
    'claude',
    'UserPromptSubmit',
    bash,
    { event: 'PostToolUse', tool: 'Bash', call: 'one' },
    'Stop',
  ) as [HookReport, HookReport, HookReport, HookReport];
  expect(heardFrom([start, stopped, ran, asked]).state).toBe('idle');
  expect(heardFrom([ran, asked, start]).state).toBe('running');
  expect(heardFrom([asked, start]).state).toBe('needs-permission');
});

test('with two requests open, the end of one tool leaves the other waiting', () => {
  const second = { event: 'PermissionRequest', tool: 'Edit', call: 'two' };
  const ran = { event: 'PostToolUse', tool: 'Bash', call: 'one' };
  expect(heardFrom(reports('claude', 'UserPromptSubmit', bash, second, ran))).toMatchObject({
    state: 'needs-permission',
    folder: FOLDER,
    tool: 'Edit',
  });
  // A person can change the input of a tool while allowing it.
  const changed = { event: 'PostToolUse', tool: 'Edit', call: 'other' };
  expect(stateAfter('claude', 'UserPromptSubmit', bash, second, ran, changed)).toBe('running');
});

test('nothing of a tool reopens an ended session; a prompt or a new start does', () => {
  expect(stateAfter('claude', 'SessionEnd', { event: 'PostToolUse', tool: 'Bash' })).toBe('ended');
  expect(stateAfter('claude', 'SessionEnd', bash)).toBe('ended');
  expect(stateAfter('claude', 'SessionEnd', { event: 'SessionStart', kind: 'resume' })).toBe('idle');
});

test('a compaction, a subagent after the answer, and unknown events do not change the state', () => {
  expect(stateAfter('claude', 'UserPromptSubmit', { event: 'SessionStart', kind: 'compact' })).toBe(
    'running',
  );
  expect(stateAfter('claude', 'Stop', { event: 'PostToolUse', tool: 'Bash', part: true })).toBe('idle');
  expect(stateAfter('claude', 'Stop', 'NewEvent', 'toString')).toBe('idle');
  expect(stateAfter('claude', 'NewEvent')).toBe('unknown');
});

test('the folder is the last reported one', () => {
  const moved = { event: 'CwdChanged', folder: '/home/ann/api' };
  expect(heardFrom(reports('claude', 'UserPromptSubmit', moved))).toMatchObject({
    state: 'running',
    folder: '/home/ann/api',
  });
});

test('a report has no prompt, no input and no output', () => {
  const more = { at: 5, pid: 42, digest: (text: string) => `d${text.length}` };
  const secret = 'do not send this';
  expect(
    reportIn(
      'claude',
      'PostToolUse',
      {
        session_id: 's-1',
        cwd: FOLDER,
        prompt: secret,
        tool_name: 'Bash',
        tool_input: { command: secret },
        tool_response: secret,
      },
      more,
    ),
  ).toEqual({
    agent: 'claude',
    event: 'PostToolUse',
    session: 's-1',
    folder: FOLDER,
    tool: 'Bash',
    call: `d${JSON.stringify({ command: secret }).length}`,
    pid: 42,
    at: 5,
  });
  expect(
    reportIn('copilot', 'notification', { sessionId: 's-2', cwd: FOLDER, notification_type: 'x' }, more),
  ).toMatchObject({ session: 's-2', kind: 'x' });
  for (const wrong of [null, [], 'text', { cwd: FOLDER }, { session_id: 's' }])
    expect(reportIn('claude', 'Stop', wrong, more)).toBeUndefined();
  for (const wrong of [
    { session_id: 's', cwd: 'relative' },
    { session_id: 'a b', cwd: '/' },
    { session_id: 's', cwd: '/a\nb' },
  ])
    expect(HookReport.safeParse(reportIn('claude', 'Stop', wrong, more)).success).toBe(false);
});

test('a transcript shows that a person rejected a request or interrupted the turn', () => {
  const rejected = `{"content":"The user doesn't want to proceed with this tool use."}`;
  expect(isAnsweredIn('claude', 'needs-permission', rejected)).toBe(true);
  expect(isAnsweredIn('claude', 'running', rejected)).toBe(false);
  expect(isAnsweredIn('claude', 'running', '{"text":"[Request interrupted by user]"}')).toBe(true);
  expect(isAnsweredIn('copilot', 'needs-permission', '{"type":"permission.completed"}')).toBe(true);
  expect(isAnsweredIn('copilot', 'running', '{"type":"permission.completed"}')).toBe(false);
  expect(isAnsweredIn('gemini', 'needs-permission', '{"type":"gemini"}')).toBe(false);
});

test('a request that was answered through svc no longer waits, and its end is not that of another one', () => {
  const [prompt, one, two, end] = reports(
    'claude',
    'UserPromptSubmit',
    bash,
    { ...bash, call: 'two' },
    {
      ...bash,
      event: 'PostToolUse',
    },
  );
  if (!prompt || !one || !two || !end) throw new Error('unreachable');
  const answered = { ...one, answered: true };
  expect(heardFrom([prompt, one, two]).asks).toEqual([one, two]);
  expect(heardFrom([prompt, answered, two])).toMatchObject({ state: 'needs-permission', asks: [two] });
  expect(heardFrom([prompt, answered, two, end])).toMatchObject({ state: 'needs-permission', asks: [two] });
  expect(heardFrom([prompt, answered])).toMatchObject({ state: 'running', tool: null, asks: [] });
});

test('a person sees the whole input, or the command if there is nothing else', () => {
  const shown = (input: object): string | null =>
    requestOf('1', { agent: 'claude', session: 's', tool: 'Bash', call: 'x', input: JSON.stringify(input) })
      .command;
  expect(shown({ command: 'ls', description: 'List files' })).toBe('ls');
  expect(shown({ command: 'ls', dangerouslyDisableSandbox: true })).toContain('dangerouslyDisableSandbox');
  expect(shown({ file_path: '/a', content: 'x' })).toBe('{"file_path":"/a","content":"x"}');
});

test('only the two answers of a person are a decision', () => {
  expect(JSON.parse(decisionFor('allow_once'))).toEqual({
    hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior: 'allow' } },
  });
  expect(decisionFor('reject_once')).toContain('"behavior":"deny"');
  const others = [null, undefined, true, '', 'allow', 'allow_always', 'constructor', ['allow_once'], {}];
  expect(others.map(decisionFor).join('')).toBe('');
});
