// The code host, only through its own client program `gh api`, so its login is the only one needed. Request bodies go
// through standard input. Every failure is returned as a CodehostProblem, which contains no secret.
//
//   const gh = createGh({ environment, run: runCommand, now });
//   const hooks = await gh.list('repos/acme/web/hooks');
import { createLimit } from '@svc/lib/limit';
import type { CommandEnd, RunCommand } from '@svc/lib/process';
import type { Environment } from '../../kernel/config/resolved-value.ts';
import {
  type CodehostAnswer,
  type GraphqlAnswer,
  plainWords,
  problemIn,
  readGraphqlAnswer,
} from './api-answer.ts';
import { type ApiResource, type BudgetFigures, type CallBudget, createCallBudget } from './call-budget.ts';
import type { CodehostProblem } from './problem.ts';

// The result of a call: the value, or the problem.

export type GhFailure = { ok: false; problem: CodehostProblem };
export type GhResult<Value> = { ok: true; value: Value } | GhFailure;

export function done<Value>(value: Value): GhResult<Value> {
  return { ok: true, value };
}

export function failed(problem: CodehostProblem): GhFailure {
  return { ok: false, problem };
}

export function malformed(message: string): GhFailure {
  return failed({ kind: 'malformed', message });
}

type Issue = { path: PropertyKey[]; message: string };
type Shape<Value> = {
  safeParse: (
    json: unknown,
  ) => { success: true; data: Value } | { success: false; error: { issues: readonly Issue[] } };
};

/** The value, if it has the shape that the API documents. */
export function parsed<Value>(shape: Shape<Value>, json: unknown): GhResult<Value> {
  const read = shape.safeParse(json);
  if (read.success) return done(read.data);
  const [issue] = read.error.issues;
  return malformed(`${issue?.path.join('.') || 'answer'}: ${issue?.message ?? 'wrong shape'}`);
}

// The part of our environment that the client program gets: what it needs to find its token and the network, and
// nothing else. Its debug switches are left out: they would print requests, including secrets.

const wanted = [
  /^(?:PATH|HOME|USER|LOGNAME|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR)$/,
  /^(?:XDG_CONFIG_HOME|XDG_STATE_HOME|XDG_DATA_HOME|XDG_CACHE_HOME|XDG_RUNTIME_DIR)$/,
  /^(?:GH_TOKEN|GITHUB_TOKEN|GH_ENTERPRISE_TOKEN|GITHUB_ENTERPRISE_TOKEN|GH_HOST|GH_CONFIG_DIR)$/,
  /^(?:SSL_CERT_FILE|SSL_CERT_DIR|DBUS_SESSION_BUS_ADDRESS)$/,
  /^(?:HTTPS?_PROXY|NO_PROXY|ALL_PROXY)$/i,
];

export function environmentForGh(environment: Environment): Record<string, string> {
  const given: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    if (value !== undefined && wanted.some((pattern) => pattern.test(name))) given[name] = value;
  }
  return { ...given, GH_PROMPT_DISABLED: '1', GH_NO_UPDATE_NOTIFIER: '1', NO_COLOR: '1' };
}

/** The tokens among them: they must not appear in anything that is logged or stored. */
export function tokensIn(environment: Readonly<Record<string, string>>): string[] {
  return Object.entries(environment)
    .filter(([name, value]) => name.endsWith('_TOKEN') && value !== '')
    .map(([, value]) => value);
}

// JSON with exact large ids: the code host numbers deliveries with 64 bits, more than a number can hold.

type Source = { source?: string };

/** Undefined if it is not JSON. An `id` that a number cannot hold is returned as a string of its digits. */
export function parseExactIds(text: string): unknown {
  try {
    return JSON.parse(text, (name, value: unknown, context?: Source) =>
      name === 'id' && typeof value === 'number' && !Number.isSafeInteger(value)
        ? (context?.source ?? value)
        : value,
    );
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

// Reads what `gh api --include` prints: the status line, headers, an empty line, the body; with `--paginate`
// one such block per page, with a body that `--jq` has turned into one line of JSON per item.

const statusLine = /^HTTP\/\d(?:\.\d)? (\d{3})/;

/** The only answer; undefined if there is none because no connection was made. */
export function readAnswer(output: string, receivedAt: number): CodehostAnswer | undefined {
  const head = /^HTTP\/[^\n]*\n(?:[^\r\n]+\r?\n)*\r?\n/.exec(output)?.[0];
  if (head === undefined) return undefined;
  return answerFrom(head.split('\n'), output.slice(head.length), receivedAt);
}

/** The answers of all pages, in order. No line of JSON can look like a status line. */
export function readPages(output: string, receivedAt: number): CodehostAnswer[] {
  const pages: CodehostAnswer[] = [];
  let head: string[] = [];
  let items: string[] = [];
  let inHead = false;
  const finish = (): void => {
    if (head.length > 0) pages.push(answerFrom(head, items.join('\n'), receivedAt));
  };
  for (const line of output.split('\n')) {
    if (statusLine.test(line)) {
      finish();
      [head, items, inHead] = [[line], [], true];
    } else if (inHead) {
      if (line.trim() === '') inHead = false;
      else head.push(line);
    } else if (line.trim() !== '') items.push(line);
  }
  finish();
  return pages;
}

function answerFrom(head: readonly string[], body: string, receivedAt: number): CodehostAnswer {
  const headers = new Map<string, string>();
  for (const line of head.slice(1)) {
    const colon = line.indexOf(':');
    if (colon > 0) headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
  const status = Number(statusLine.exec(head[0] ?? '')?.[1] ?? 0);
  return { status, header: (name) => headers.get(name), body, receivedAt };
}

/** The URL of the next page from the Link header. */
export function nextPage({ header }: Pick<CodehostAnswer, 'header'>): URL | undefined {
  const [, address] = /<([^>]+)>\s*;\s*rel="next"/.exec(header('link') ?? '') ?? [];
  return address !== undefined && URL.canParse(address) ? new URL(address) : undefined;
}

// Turns the output of `gh api` into a value: one answer, all pages of a list, or GraphQL. A list is complete or it
// failed: a failed page in the middle never makes a shorter list.

export type GhAnswer = CodehostAnswer & { json: unknown };

/** `answers` are all answers of the code host, usable or not: they contain the quota. */
type Reading<Value> = { answers: CodehostAnswer[]; result: GhResult<Value> };

export type ReadOutput<Value> = (output: string, receivedAt: number) => Reading<Value>;

export const readOne: ReadOutput<GhAnswer> = (output, receivedAt) => {
  const answer = readAnswer(output, receivedAt);
  if (answer === undefined) return { answers: [], result: nothing };
  const problem = problemIn(answer);
  if (problem !== undefined) return { answers: [answer], result: failed(problem) };
  const json = answer.body.trim() === '' ? null : parseExactIds(answer.body);
  return {
    answers: [answer],
    result: json === undefined ? malformed('it is not JSON') : done({ ...answer, json }),
  };
};

/** For answers that are not JSON: a log. */
const readText: ReadOutput<string> = (output, receivedAt) => {
  const answer = readAnswer(output, receivedAt);
  if (answer === undefined) return { answers: [], result: nothing };
  const problem = problemIn(answer);
  return { answers: [answer], result: problem === undefined ? done(answer.body) : failed(problem) };
};

export const readList: ReadOutput<unknown[]> = (output, receivedAt) => {
  const answers = readPages(output, receivedAt);
  return { answers, result: itemsOf(answers) };
};

function itemsOf(pages: readonly CodehostAnswer[]): GhResult<unknown[]> {
  const last = pages.at(-1);
  if (last === undefined) return nothing;
  const problem = pages.map(problemIn).find((one) => one !== undefined);
  if (problem !== undefined) return failed(problem);
  if (nextPage(last) !== undefined) return malformed('a page is missing');
  const lines = pages.flatMap(({ body }) => body.split('\n')).filter((line) => line !== '');
  const items = lines.map(parseExactIds);
  const areObjects = items.every((item) => typeof item === 'object' && item !== null);
  return areObjects ? done(items) : malformed('it is not a list');
}

export const readGraphql: ReadOutput<GraphqlAnswer> = (output, receivedAt) => {
  const { answers, result } = readOne(output, receivedAt);
  return { answers, result: result.ok ? readGraphqlAnswer(result.value, result.value.json) : result };
};

const nothing = failed({ kind: 'unavailable', message: 'no answer' });

const TIMEOUT_MS = 20_000;
const LIST_TIMEOUT_MS = 60_000;
const MAX_BYTES = 32 * 1024 * 1024;
/** Each is a process of some 30 MB. */
const AT_ONCE = 3;

/** Each item of a page as one line of JSON. Anything but a list is an error: without items it could look like a page. */
const ITEMS = 'if type == "array" then .[] | @json else error("it is not a list") end';

type GhRequest = {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Relative to the API's address: `repos/acme/web/hooks`. */
  path: string;
  body?: unknown;
  /** Must not appear in any message, even if the code host repeats it. */
  secrets?: readonly string[];
};

export type Gh = {
  request: (request: GhRequest) => Promise<GhResult<GhAnswer>>;
  /** For answers that are not JSON, unchanged. */
  text: (path: string) => Promise<GhResult<string>>;
  /** Every item of every page; a page that fails makes the whole list fail. */
  list: (path: string) => Promise<GhResult<unknown[]>>;
  /** There may be partial data as well as errors. */
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
  /** Ends every call in progress when the daemon stops. */
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
  const limit = createLimit(AT_ONCE);

  /** Budget, program, answer: every call goes through here. */
  async function call<Value>(given: Call<Value>): Promise<GhResult<Value>> {
    const throttled = budget.take(given.resource);
    if (throttled !== undefined) return failed(throttled);
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
    const safe: GhResult<Value> = result.ok ? result : failed(withoutSecrets(result.problem, secrets));
    budget.settle(answers, safe.ok ? undefined : safe.problem);
    return safe;
  }

  return {
    unanswered: budget.unanswered,
    figures: budget.figures,
    request: ({ method = 'GET', path, body, secrets = [] }) =>
      limit(() =>
        call({ args: ['-X', method, path], body, secrets, resource: 'core', timeoutMs, read: readOne }),
      ),
    text: (path) =>
      limit(() => call({ args: ['-X', 'GET', path], resource: 'core', timeoutMs, read: readText })),
    list(path) {
      const args = ['-X', 'GET', path, '--paginate', '--jq', ITEMS];
      return limit(() => call({ args, resource: 'core', timeoutMs: listTimeoutMs, read: readList }));
    },
    graphql: (query, variables) =>
      limit(() =>
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
      // With GraphQL errors the program exits with 1 although there is an answer; otherwise it was cut off.
      const brokeOff = end.exitCode !== 0 && result.ok && resource !== 'graphql';
      return { answers, result: brokeOff ? malformed(plainWords(end.stderr)) : result };
    }
  }
}

/** No answer at all: the program's message is the only reason available. */
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
