// Writes what was sent to an agent and what it wrote, as a fixture for the tests of the agents feature: one entry a line, in the
// order in which things happened. Nothing of this machine is in it, and long lists and texts are cut.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Fields } from '@svc/contract/payload-fields';
import { readSession } from '../../packages/monitor/src/features/agents/io/agent-session.ts';
import type { AgentEntry } from '../../packages/monitor/src/features/agents/session.ts';

const folder = join(import.meta.dirname, '../../packages/monitor/src/features/agents/testing');
const LONGEST_LIST = 5;
const LONGEST_TEXT = 80;

/** `root` contains everything that the agent was given on this machine. */
export async function recordTranscript(
  name: string,
  processes: readonly { sent: string; journal: string }[],
  root: string,
): Promise<void> {
  const lines: string[] = [];
  for (const files of processes)
    await readSession(files, (entry) => lines.push(JSON.stringify(cut(entry, root))));
  writeFileSync(join(folder, `${name}.jsonl`), `${lines.join('\n')}\n`);
}

function cut(entry: AgentEntry, root: string): AgentEntry {
  return entry.from === 'process' ? entry : { ...entry, message: cutFields(entry.message) };

  function cutValue(value: unknown): unknown {
    if (typeof value === 'string')
      return value.replaceAll(root, '/work').replaceAll(root.slice(1), 'work').slice(0, LONGEST_TEXT);
    if (Array.isArray(value)) return value.slice(0, LONGEST_LIST).map(cutValue);
    if (typeof value !== 'object' || value === null) return value;
    // Half a megabyte with one agent, and nothing of it is used.
    const isOfCommands = 'availableCommands' in value && 'sessionUpdate' in value;
    return isOfCommands ? { sessionUpdate: value.sessionUpdate, availableCommands: [] } : cutFields(value);
  }

  function cutFields(fields: object): Fields {
    const used = Object.entries(fields).filter(([key]) => key !== 'description' && key !== 'jsonrpc');
    return Object.fromEntries(used.map(([key, one]) => [key, cutValue(one)]));
  }
}
