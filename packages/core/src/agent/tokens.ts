// Tokens. Each agent counts in its own way; for agents that are not listed here the count is unknown.
import { type Fields, numberAt, objectAt } from '../receive/payload-fields.ts';

export type Tokens = { input: number; output: number } | null;

/** Where the answer to a prompt has the sum of its turn. */
const turnSums: Readonly<Record<string, 'usage' | 'quota'>> = {
  '@agentclientprotocol/claude-agent-acp': 'usage',
  '@agentclientprotocol/codex-acp': 'usage',
  Copilot: 'usage',
  'gemini-cli': 'quota',
};
/** Reports the tokens of each request with an empty chunk. */
const CHUNK_USAGE = 'qwen-code';

export function tokensOfTurn(agent: string | undefined, result: Fields): Tokens {
  const where = agent === undefined ? undefined : turnSums[agent];
  if (where === 'usage') return tokensIn(objectAt(result, 'usage'), 'inputTokens', 'outputTokens');
  if (where === 'quota') {
    const count = objectAt(objectAt(objectAt(result, '_meta'), 'quota'), 'token_count');
    return tokensIn(count, 'input_tokens', 'output_tokens');
  }
  return null;
}

export function tokensOfChunk(agent: string | undefined, update: Fields): Tokens {
  if (agent !== CHUNK_USAGE) return null;
  return tokensIn(objectAt(objectAt(update, '_meta'), 'usage'), 'inputTokens', 'outputTokens');
}

function tokensIn(fields: Fields, input: string, output: string): Tokens {
  const [one, other] = [numberAt(fields, input), numberAt(fields, output)];
  return one === undefined || other === undefined ? null : { input: one, output: other };
}

export function addTokens(before: Tokens, added: Tokens): Tokens {
  if (added === null) return before;
  return { input: (before?.input ?? 0) + added.input, output: (before?.output ?? 0) + added.output };
}
