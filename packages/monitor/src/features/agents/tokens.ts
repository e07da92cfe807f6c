// Tokens. Each agent counts in its own way; for agents that are not listed here the count is unknown.
import { type Fields, numberAt, objectAt } from '@svc/contract/payload-fields';

export type Tokens = { input: number; output: number } | null;

/** What the answer to a prompt contains: the sum of its turn, of all turns of the process, or of its turn elsewhere. */
const sums: Readonly<Record<string, 'turn' | 'process' | 'quota'>> = {
  '@agentclientprotocol/claude-agent-acp': 'turn',
  '@agentclientprotocol/codex-acp': 'turn',
  Copilot: 'process',
  'gemini-cli': 'quota',
};
/** Reports the tokens of each request with an empty chunk. */
const CHUNK_USAGE = 'qwen-code';

/** Reports the cost of its session over all its processes; the others report that of their process. */
const SESSION_COST = 'OpenCode';

export function costCovers(agent: string | undefined): 'session' | 'process' {
  return agent === SESSION_COST ? 'session' : 'process';
}

export function tokensAfterTurn(agent: string | undefined, before: Tokens, result: Fields): Tokens {
  const sum = agent === undefined ? undefined : sums[agent];
  if (sum === 'process') return tokensIn(objectAt(result, 'usage')) ?? before;
  if (sum === 'turn') return addTokens(before, tokensIn(objectAt(result, 'usage')));
  if (sum === undefined) return before;
  const count = objectAt(objectAt(objectAt(result, '_meta'), 'quota'), 'token_count');
  const [input, output] = [numberAt(count, 'input_tokens'), numberAt(count, 'output_tokens')];
  return input === undefined || output === undefined ? before : addTokens(before, { input, output });
}

export function tokensOfChunk(agent: string | undefined, update: Fields): Tokens {
  return agent === CHUNK_USAGE ? tokensIn(objectAt(objectAt(update, '_meta'), 'usage')) : null;
}

/** Tokens read from a cache are input tokens too. Some agents include them in `inputTokens`, all of them in the total. */
function tokensIn(usage: Fields): Tokens {
  const [total, output] = [numberAt(usage, 'totalTokens'), numberAt(usage, 'outputTokens')];
  return total === undefined || output === undefined ? null : { input: total - output, output };
}

export function addTokens(before: Tokens, added: Tokens): Tokens {
  if (added === null) return before;
  return { input: (before?.input ?? 0) + added.input, output: (before?.output ?? 0) + added.output };
}
