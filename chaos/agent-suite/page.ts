// docs/agents.md, from the results of a run of the suite.
import { type AgentResult, capabilities } from './checks.ts';
import { programs } from './programs.ts';

export type SuiteResult = {
  date: string;
  machine: string;
  network: string;
  skipped: string[];
  agents: AgentResult[];
};

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
    'Has `session/load` only, and cannot continue a session in the minute in which it was made: svc then starts a new one with a summary. Reports no context and no exit codes.',
  opencode:
    'Its mode does not decide whether it asks: svc sets its permissions by `OPENCODE_PERMISSION`. It reports the tokens of the last request only, so they are unknown. The cost is that of the session over all its processes.',
  qwen: 'Its own default mode lets a classifier decide about permissions; svc sets `default`, in which it asks a person.',
  copilot: 'Has `session/load` only. Its tokens are those of its process.',
};

export function agentsPage({ date, machine, network, skipped, agents }: SuiteResult): string {
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
    ...capabilities.map((capability) => {
      const { ok, note } = outcomes[capability];
      return [ok ? 'ok' : '**failed**', note].filter(Boolean).join(': ');
    }),
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

## Run it again

\`\`\`sh
npm run build
npm run agents:suite                             # all
npm run agents:suite -- --agents copilot,gemini  # some
\`\`\`

The packages are kept in \`~/.cache/svc-agents\` (another folder: \`--cache\`): ${programs.map((program) => `\`${program.package}@${program.version}\``).join(', ')}.
`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
