// What the fake model answers, by the word after the marker in a prompt:
//
//   edit     changes `two` to `TWO` in a.txt
//   command  runs `touch made-by-<next word>`
//   slow     streams SLOW_WORDS words, ten a second, and stops in the middle until the agent closes the connection or the
//            rest is released: the turn cannot end before what is tried has happened, however slow the machine is
//   others   a short text
//
// Every agent offers its own tools, so a tool is chosen by the names in the request.
import { join } from 'node:path';
import type { Asked, Reply } from '../../packages/testkit/src/models/streaming-models.ts';

/** The first prompt is the command of the worker, `/suite:hello`. */
export const MARKER = 'suite:';
const SLOW_WORDS = 40;
export const slowText = Array.from({ length: SLOW_WORDS }, (_, index) => `word-${index + 1}`).join(' ');
export const plainText = 'It is done.';

type Tool = NonNullable<Reply['tool']>;

export function replyTo({ prompt, results, tools }: Asked, cwd: string, released: Promise<unknown>): Reply {
  // An agent that was cut off may send the prompt of that turn and the new one together.
  const [, what = '', name = ''] =
    [...prompt.matchAll(new RegExp(`${MARKER}([a-z]+) ?([a-z-]*)`, 'g'))].at(-1) ?? [];
  if (what === 'slow')
    return { text: slowText, everyMs: 100, hold: { afterWords: SLOW_WORDS / 2, until: released } };
  const steps =
    what === 'edit' ? editing(tools, cwd) : what === 'command' ? [running(tools, touching(name))] : [];
  const tool = steps[results];
  return tool === undefined ? { text: plainText } : { thought: 'I think.', text: `Next: ${what}.`, tool };
}

function touching(name: string): string {
  return `touch made-by-${name} && echo made-it`;
}

/** Runs a command with the tool that the agent offers for it. */
export function running(tools: readonly string[], command: string): Tool {
  const asIs = { command, description: 'Work on the ticket' };
  if (tools.includes('Bash')) return { name: 'Bash', input: asIs };
  if (tools.includes('run_shell_command'))
    return { name: 'run_shell_command', input: { ...asIs, is_background: false } };
  if (tools.includes('bash')) return { name: 'bash', input: asIs };
  const escalated = {
    cmd: command,
    yield_time_ms: 30_000,
    sandbox_permissions: 'require_escalated',
    justification: 'May I?',
  };
  return {
    name: 'exec',
    input: `const r = await tools.exec_command(${JSON.stringify(escalated)}); text(r.output);`,
  };
}

/** Most agents refuse to change a file that the model has not read. */
function editing(tools: readonly string[], cwd: string): Tool[] {
  const file = join(cwd, 'a.txt');
  const change = { old_string: 'two', new_string: 'TWO' };
  if (tools.includes('Edit'))
    return [
      { name: 'Read', input: { file_path: file } },
      { name: 'Edit', input: { file_path: file, ...change } },
    ];
  if (tools.includes('replace'))
    return [
      { name: 'replace', input: { file_path: file, ...change, instruction: 'upper', allow_multiple: false } },
    ];
  if (tools.includes('read_file'))
    return [
      { name: 'read_file', input: { file_path: file } },
      { name: 'edit', input: { file_path: file, ...change } },
    ];
  if (tools.includes('view'))
    return [
      { name: 'view', input: { path: file } },
      { name: 'edit', input: { path: file, old_str: 'two', new_str: 'TWO' } },
    ];
  if (tools.includes('edit'))
    return [
      { name: 'read', input: { filePath: file } },
      { name: 'edit', input: { filePath: file, oldString: 'two', newString: 'TWO' } },
    ];
  const patch = '*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+TWO\n three\n*** End Patch\n';
  return [{ name: 'exec', input: `text(await tools.apply_patch(${JSON.stringify(patch)}));` }];
}
