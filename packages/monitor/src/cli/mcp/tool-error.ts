// A call that failed, as a result that a model can read: the code, the message and the remedy. The server goes on.
import { Failure } from '../../errors.ts';
import { plainText } from '../plain-text.ts';
import type { Terminal } from '../terminal.ts';

export type ToolProblem = { code: string; message: string; remedy: string | null };

export function problemOf(error: unknown, terminal: Pick<Terminal, 'err'>): ToolProblem {
  if (error instanceof Failure) {
    const { code, message, remedy = null } = error;
    return { code, message, remedy };
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  terminal.err(`svc mcp: a call failed by a bug:\n${stack}`);
  return {
    code: 'bug',
    message: 'The call failed by a bug in svc.',
    remedy: 'Report it with the lines that svc mcp wrote to standard error.',
  };
}

/** The message may quote what somebody wrote: it stays on its lines, and steers nothing. */
export function problemText({ code, message, remedy }: ToolProblem): string {
  const lines = message.split('\n').map(plainText);
  return [`error ${code}: ${lines.join('\n')}`, ...(remedy === null ? [] : [plainText(remedy)])].join('\n');
}
