// A tool of the MCP server: what a client may call, with which input, and which scope it needs.
import { z } from 'zod';
import { Failure } from '../../errors.ts';
import type { JqThreads } from '../../log/jq-threads.ts';
import type { Terminal } from '../terminal.ts';
import type { Scope } from './scopes.ts';

export type ToolContext = {
  terminal: Terminal;
  /** Filters run beside the server, which answers other calls meanwhile. */
  jq: Pick<JqThreads, 'matches'>;
  /** Aborted when the client cancels the call or goes away. */
  signal: AbortSignal;
  /** Undefined when the client did not ask for progress. */
  progress: ((done: number, total: number, message: string) => Promise<void>) | undefined;
};

/** `text` is our own words; `outside` are lines that hold what other people wrote, and are shown as data. */
export type Answer = { structured: Record<string, unknown>; text: string; outside?: readonly string[] };

type Hints = { readOnly: boolean; destructive: boolean; idempotent: boolean; openWorld?: boolean };

type ToolWords = { name: string; title: string; description: string; scope: Scope; hints: Hints };

export type Tool = ToolWords & {
  input: z.ZodObject;
  output: z.ZodObject;
  call: (given: unknown, context: ToolContext) => Promise<Answer>;
};

/** What changes nothing, and may be asked again. */
export const looksOnly: Hints = { readOnly: true, destructive: false, idempotent: true };

/** The input is parsed before `call` sees it; an unknown field is an error, not ignored. */
export function tool<Input extends z.ZodObject>(
  definition: ToolWords & {
    input: Input;
    output: z.ZodObject;
    call: (given: z.output<Input>, context: ToolContext) => Promise<Answer>;
  },
): Tool {
  return {
    ...definition,
    call: (given, context) => {
      const parsed = definition.input.safeParse(given ?? {});
      if (!parsed.success) throw new Failure('usage', `${definition.name}: ${z.prettifyError(parsed.error)}`);
      return definition.call(parsed.data, context);
    },
  };
}
