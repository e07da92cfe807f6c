// docs/tested-agents.md, from the results of a run of the suite.
import { type AgentResult, capabilities } from './checks.ts';
import { type HookResult, hookChecks } from './hooks.ts';
import { programs } from './programs.ts';

type Run = { date: string; machine: string; network: string };
export type SuiteResult = Run & { skipped: string[]; agents: AgentResult[] };
export type HooksResult = Run & { agents: HookResult[] };

const meanings: Readonly<Record<(typeof capabilities)[number], string>> = {
  start:
    '`svc orchestrate start --agent <name>`: the session has the permission mode of svc, and the first turn ends',
  'edit with diff': 'the agent changes a file after it was allowed to, and svc shows the change as a diff',
  'permission allowed': '`svc agent answer <ticket> allow`: the command runs',
  'permission rejected':
    '`svc agent answer <ticket> reject`: the command does not run. Some agents then end the turn',
  message: '`svc agent send <ticket>` while the agent works: it gets the message at once, or when it is idle',
  cancel:
    '`svc agent stop <ticket>` while the agent writes: the turn ends, and the agent takes messages. The time includes the start of `svc`',
  'agent killed, resumed':
    '`kill -9` of the agent in mid-turn, then a message: a new process continues the session, and the model gets the history. The time is from the message to the end of the new turn',
  'daemon killed, completed':
    '`kill -9` of the daemon in mid-turn: the next daemon has every word of the turn, and the prompt was sent once',
};

/** What a person should know before choosing it, beyond the table. */
const notes: Readonly<Record<string, string>> = {
  claude:
    'Takes messages while it works. The cost is that of its process, as the agent computes it. It does not report the tokens of a cancelled turn.',
  codex:
    'Its own default mode lets a model decide about permissions; svc sets `read-only`, in which it asks a person. A rejected permission ends the turn. Takes messages while it works.',
  gemini:
    'Has `session/load` only, and cannot continue a session in the minute in which it was made: svc then starts a new one with a summary. Reports no context and no exit codes. Git in its commands sees no settings of the person: svc gives it their name, e-mail address and ssh program. It has no credential helper, so it cannot push over HTTPS: use an ssh remote.',
  opencode:
    'Its mode does not decide whether it asks: svc sets its permissions by `OPENCODE_PERMISSION`. It reports the tokens of the last request only, so they are unknown. The cost is that of the session over all its processes.',
  qwen: 'Its own default mode lets a classifier decide about permissions; svc sets `default`, in which it asks a person.',
  copilot: 'Has `session/load` only. Its tokens are those of its process.',
};

const hookMeanings: Readonly<Record<(typeof hookChecks)[number], string>> = {
  'session appears': 'the session is on the board with its folder and branch, known by its hooks',
  'waits for permission':
    'the agent asks on its screen, the board shows it, and there is an attention item. The time is from the screen to the board',
  'goes on':
    'allowed at the terminal: the command has run. The time is from the end of the command to the board, and includes what the agent itself needs to notice it',
  idle: 'the turn has ended, and the attention item is resolved',
  rejected: 'rejected at the terminal. The time is from the key to the board',
  ended: 'the person leaves. The time is from the end of the program to the board',
  killed: '`kill -9` in mid-turn. The time is from the signal to the board',
  'answered through svc':
    'with `svc hooks install <agent> --answer`: `svc agent answer <session> allow` and `reject` reach the agent, and without an answer its terminal asks. Refused: svc does not know how its hook answers',
  'settings as before': '`svc hooks remove`: the settings are as before `svc hooks install`',
};

export function agentsPage(
  { date, machine, network, skipped, agents }: SuiteResult,
  hooks: HooksResult,
): string {
  const yes = (isKnown: boolean): string => (isKnown ? 'reported' : 'unknown');
  return `# Agents that svc was tried with

Written by \`npm run agents:suite -- --write\` on ${date}; do not edit. The suite installs each agent from npm, in the version that \`svc agents check\` asks for, and drives it with \`svc\` through a real daemon in a new home. The model is a streaming fake on the same machine, so this shows that svc and the agent work together, not how good a model is. No login was tried.

- Network: ${network}
- Machine: ${machine}
- Agents: ${agents.length} tried, ${skipped.length} skipped${skipped.length > 0 ? ` (could not be installed: ${skipped.join(', ')})` : ''}

${table(
  ['Agent', 'Version', ...capabilities],
  agents.map(({ name, version, outcomes }) => [
    name,
    version,
    ...capabilities.map((capability) => outcomeWords(outcomes[capability])),
  ]),
)}

## What the columns mean

${capabilities.map((capability) => `- **${capability}**: ${meanings[capability]}.`).join('\n')}

## What is different

Unknown means that the agent does not report it in a way that is complete. It is then shown as unknown, never as 0.

${table(
  ['Agent', 'Permission mode', 'Tokens', 'Cost', 'Context', ''],
  agents.map(({ name, mode, tokens, cost, context }) => [
    name,
    `\`${mode ?? 'its own'}\``,
    yes(tokens),
    yes(cost),
    yes(context),
    notes[name] ?? '',
  ]),
)}

## Agents that a person starts

Written by \`npm run agents:suite -- --hooks --write\` on ${hooks.date}. Each agent is started at a terminal, as a person does it, with the hooks that \`svc hooks install\` adds to its settings; Codex with \`--dangerously-bypass-hook-trust\`, which stands for a person's trust. The same model, network (${hooks.network}) and kind of machine (${hooks.machine}).

${table(
  ['Agent', ...hookChecks],
  hooks.agents.map(({ name, outcomes }) => [
    name,
    ...hookChecks.map((check) => outcomeWords(outcomes[check])),
  ]),
)}

${hookChecks.map((check) => `- **${check}**: ${hookMeanings[check]}.`).join('\n')}

## Run it again

\`\`\`sh
npm run build
npm run agents:suite                             # all
npm run agents:suite -- --agents copilot,gemini  # some
npm run agents:suite -- --hooks                  # those that a person starts
\`\`\`

The packages are kept in \`~/.cache/svc-agents\` (another folder: \`--cache\`): ${programs.map((program) => `\`${program.package}@${program.version}\``).join(', ')}.
`;
}

function outcomeWords({ ok, note }: { ok: boolean; note: string }): string {
  return [ok ? 'ok' : '**failed**', note].filter(Boolean).join(': ');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
