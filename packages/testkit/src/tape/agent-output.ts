// What an agent prints: a stream of JSON lines, as its program writes them.
import type { WorkerStatus } from '@svc/core';

const sentences: Partial<Record<WorkerStatus, string>> = {
  researching: 'Reading how stays are stored, and who asks for them.',
  planning: 'Three steps: the table, the rule with its tests, then the screen.',
  implementing: 'The rule stands; now the two cases at the end of the season.',
  validating: 'All tests pass. Looking once more at the change as a whole.',
  shipping: 'Writing the description of the pull request.',
};
const tools: Partial<Record<WorkerStatus, readonly [name: string, input: object]>> = {
  researching: ['Grep', { pattern: 'seasonPrice', path: 'src' }],
  planning: ['Write', { file_path: 'thoughts/plan.md' }],
  implementing: ['Edit', { file_path: 'src/stays/prices.ts' }],
  validating: ['Bash', { command: 'npm test' }],
  shipping: ['Bash', { command: 'git push' }],
};

const session = (ticket: string): string => `session-${ticket.toLowerCase()}`;

export function agentInit(ticket: string): object {
  return {
    type: 'system',
    subtype: 'init',
    session_id: session(ticket),
    model: 'opus',
    cwd: '/home/mira/svc/wt',
  };
}

export function agentSays(
  ticket: string,
  at: number,
  status: WorkerStatus,
  cost: Usage,
  text: string = sentences[status] ?? 'Going on.',
): object {
  return message(ticket, at, cost, { type: 'text', text });
}

export function agentUses(ticket: string, at: number, status: WorkerStatus, cost: Usage): object {
  const [name, input] = tools[status] ?? ['Read', { file_path: 'README.md' }];
  return message(ticket, at, cost, { type: 'tool_use', id: `use-${at}`, name, input });
}

type Usage = { inputTokens: number; outputTokens: number };

function message(ticket: string, at: number, { inputTokens, outputTokens }: Usage, block: object): object {
  return {
    type: 'assistant',
    session_id: session(ticket),
    message: {
      id: `message-${ticket}-${at}`,
      role: 'assistant',
      content: [block],
      usage: { input_tokens: Math.round(inputTokens / 10), output_tokens: Math.round(outputTokens / 10) },
    },
  };
}
