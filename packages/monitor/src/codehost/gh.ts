// The code host through its own client program: `gh api`, never another way, so that its login is the one
// login there is. What is sent goes through standard input. Every failure comes back as a CodehostProblem;
// nothing secret stands in any.
//
//   const gh = createGh({ environment, run: runCommand, now });
//   const hooks = await gh.list('repos/acme/web/hooks');
import { type CodehostProblem, type Environment, type GraphqlAnswer, plainWords } from '@svc/core';
import { type ApiResource, type BudgetFigures, type CallBudget, createCallBudget } from './call-budget.ts';
import { createGate } from './gate.ts';
import { environmentForGh, tokensIn } from './gh-environment.ts';
import {
  type GhAnswer,
  type Reading,
  type ReadOutput,
  readGraphql,
  readList,
  readOne,
  readText,
} from './gh-reading.ts';
import { failed, type GhResult, malformed } from './gh-result.ts';
import type { CommandEnd, RunCommand } from './run-command.ts';

const TIMEOUT_MS = 20_000;
const LIST_TIMEOUT_MS = 60_000;
const MAX_BYTES = 32 * 1024 * 1024;
/** Each is a process of some 30 MB. */
const AT_ONCE = 3;

/** Each item of a page as one line of JSON. What is no list has no items, and could look like a page. */
const ITEMS = 'if type == "array" then .[] | @json else error("it is not a list") end';

type GhRequest = {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Behind the API's address: `repos/acme/web/hooks`. */
  path: string;
  body?: unknown;
  /** What must not stand in any message, should the code host repeat it. */
  secrets?: readonly string[];
};

export type Gh = {
  request: (request: GhRequest) => Promise<GhResult<GhAnswer>>;
  /** What is no JSON, as it is. */
  text: (path: string) => Promise<GhResult<string>>;
  /** Every item of every page; a page that fails makes the whole list fail. */
  list: (path: string) => Promise<GhResult<unknown[]>>;
  /** Data may be there in part, beside errors. */
  graphql: (query: string, variables: Record<string, unknown>) => Promise<GhResult<GraphqlAnswer>>;
  /** Why the last call got no answer; null when it got one. */
  unanswered: () => CodehostProblem | null;
  figures: () => BudgetFigures;
};

export type GhOptions = {
  environment: Environment;
  run: RunCommand;
  now: () => number;
  budget?: CallBudget;
  timeoutMs?: number;
  listTimeoutMs?: number;
  maxBytes?: number;
  /** Ends every call that is under way when the daemon stops. */
  signal?: AbortSignal;
};

type Call<Value> = {
  args: string[];
  body?: unknown;
  resource: ApiResource;
  timeoutMs: number;
  secrets?: readonly string[];
  read: ReadOutput<Value>;
};

export function createGh(options: GhOptions): Gh {
  const { run, now, timeoutMs = TIMEOUT_MS, listTimeoutMs = LIST_TIMEOUT_MS, maxBytes = MAX_BYTES } = options;
  const environment = environmentForGh(options.environment);
  const budget = options.budget ?? createCallBudget({ now });
  const gate = createGate(AT_ONCE);

  /** Budget, program, answer: the one way out. */
  async function call<Value>(given: Call<Value>): Promise<GhResult<Value>> {
    const heldBack = budget.take(given.resource);
    if (heldBack !== undefined) return failed(heldBack);
    const end = await run({
      file: 'gh',
      args: ['api', '--include', ...given.args, ...(given.body === undefined ? [] : ['--input', '-'])],
      ...(given.body !== undefined && { input: JSON.stringify(given.body) }),
      environment,
      timeoutMs: given.timeoutMs,
      maxBytes,
      signal: options.signal,
    });
    const { answers, result } = readEnd(end, given, now());
    const secrets = [...tokensIn(environment), ...(given.secrets ?? [])];
    const told: GhResult<Value> = result.ok ? result : failed(withoutSecrets(result.problem, secrets));
    budget.settle(answers, told.ok ? undefined : told.problem);
    return told;
  }

  return {
    unanswered: budget.unanswered,
    figures: budget.figures,
    request: ({ method = 'GET', path, body, secrets = [] }) =>
      gate(() =>
        call({ args: ['-X', method, path], body, secrets, resource: 'core', timeoutMs, read: readOne }),
      ),
    text: (path) =>
      gate(() => call({ args: ['-X', 'GET', path], resource: 'core', timeoutMs, read: readText })),
    list(path) {
      const args = ['-X', 'GET', path, '--paginate', '--jq', ITEMS];
      return gate(() => call({ args, resource: 'core', timeoutMs: listTimeoutMs, read: readList }));
    },
    graphql: (query, variables) =>
      gate(() =>
        call({
          args: ['graphql'],
          body: { query, variables },
          resource: 'graphql',
          timeoutMs,
          read: readGraphql,
        }),
      ),
  };
}

function readEnd<Value>(
  end: CommandEnd,
  { timeoutMs, resource, read }: Call<Value>,
  now: number,
): Reading<Value> {
  switch (end.ended) {
    case 'not-started':
      return unanswered({ kind: 'gh-missing', message: end.reason });
    case 'timeout':
      return unanswered({ kind: 'unavailable', message: `no answer within ${timeoutMs / 1000} s` });
    case 'too-large':
      return unanswered({ kind: 'malformed', message: 'it is too large' });
    case 'stopped':
      return unanswered({ kind: 'unavailable', message: 'gh was stopped' });
    case 'exit': {
      const { answers, result } = read(end.stdout, now);
      if (answers.length === 0) return unanswered(problemInWords(end.exitCode, end.stderr));
      // With errors of GraphQL the program ends with 1 although there is an answer; otherwise it broke off.
      const brokeOff = end.exitCode !== 0 && result.ok && resource !== 'graphql';
      return { answers, result: brokeOff ? malformed(plainWords(end.stderr)) : result };
    }
  }
}

/** No answer at all: the program says why in words. */
function problemInWords(exitCode: number, stderr: string): CodehostProblem {
  if (exitCode === 4 || stderr.includes('gh auth login')) return { kind: 'logged-out', message: 'no token' };
  const [line = ''] = stderr.split('\n');
  return { kind: 'unavailable', message: plainWords(line) || `gh ended with ${exitCode}` };
}

function unanswered(problem: CodehostProblem): { answers: []; result: ReturnType<typeof failed> } {
  return { answers: [], result: failed(problem) };
}

function withoutSecrets(problem: CodehostProblem, secrets: readonly string[]): CodehostProblem {
  let { message } = problem;
  for (const secret of secrets) message = message.replaceAll(secret, '[removed]');
  return { ...problem, message };
}
