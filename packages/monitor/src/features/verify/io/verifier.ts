// Verifies merged commits: runs the project's tests in a fresh worktree at the merge and checks that the required types of
// tests exist. Signs of weakened tests in the diff (skipped, deleted, fewer assertions) are advice in the result.
//   const verifier = createVerifier({ config, environment, runsDir, signals, append: log.appendOnce, now });
//   const verified = await verifier.verify({ orchestrator, ticket, repoFolder, mergeSha, worktreeBase });
// A result is stored with its log and never computed twice: after a restart, unreported results are reported. A failed
// attempt (no such commit, no disk) is not a result and can be repeated.
import { basename } from 'node:path';
import { createLimit, type Limit } from '@svc/lib/limit';
import { pathInRepository } from '@svc/lib/path-in-repository';
import { type RunCommand, runCommand } from '@svc/lib/process';
import { type ReadProcessStarts, system } from '@svc/lib/system';
import type { Environment } from '../../../kernel/config/resolved-value.ts';
import { Failure } from '../../../kernel/failure.ts';
import type { EventDraft } from '../../../kernel/log/event-line.ts';
import { secretVariables } from '../../agents/agent-environment.ts';
import type { AgentProblem, ChosenAgent } from '../../agents/choice.ts';
import type { Config } from '../../config.ts';
import { setupVariables } from '../../context/setup-variables.ts';
import type { TicketContent } from '../../tracker/ticket-text.ts';
import type { SignalStore } from '../../workers/io/signal-store.ts';
import { createGit } from '../../worktrees/io/git.ts';
import { scopeOfDiff } from '../file-kind.ts';
import { judgeAnswer, refutationPrompt, type VerifierAnswer, type VerifierResult } from '../refutation.ts';
import { testAdvice } from '../test-advice.ts';
import { testTypesPresent } from '../test-types.ts';
import { verdict } from '../verdict.ts';
import { type AskGit, createAskGit } from './ask-git.ts';
import { askVerifier, makeReadOnly, stateOfWorktree, verifierFiles } from './ask-verifier.ts';
import { type Change, findCommit, linesAt, readChange } from './merged-commit.ts';
import {
  readResult,
  resultDraft,
  signalBlock,
  startedDraft,
  type VerificationResult,
  writeResult,
} from './result.ts';
import { runTests, stopped } from './run-tests.ts';
import { checkNames, createWorkspaces, prepareVerifyPaths, type VerifyPaths } from './workspace.ts';

const TEST_TIMEOUT_MS = 30 * 60_000;
const SETUP_TIMEOUT_MS = 30 * 60_000;
/** An agent takes some hundred megabytes. */
const VERIFIERS_AT_ONCE = 2;

export type VerifyRequest = {
  orchestrator: string;
  ticket: string;
  /** A checkout of the repository, where git commands run. */
  repoFolder: string;
  mergeSha: string;
  /** The commit to compare with; the first parent if absent. A rebase of several commits needs it. */
  base?: string | undefined;
  /** The folder of the project's worktrees. */
  worktreeBase: string;
  repo?: string | undefined;
  pr?: number | undefined;
  signal?: AbortSignal | undefined;
};

export type Verified =
  | {
      ok: true;
      result: VerificationResult;
      /** False when it was known already. */
      fresh: boolean;
      /** Why the signal file does not have it. */
      signalProblem?: string;
    }
  | { ok: false; reason: string; remedy?: string | undefined };

/** How the agent of `svc.orchestration.verifier` is found and what it gets. */
type VerifierAgent = {
  choose: (name: string) => Promise<Extract<ChosenAgent, { protocol: true }> | AgentProblem>;
  environment: () => Readonly<Record<string, string>>;
  /** What the ticket asks for; null: the project has no tracker. Rejects with the fix. */
  readTicket: (ticket: string) => Promise<TicketContent | null>;
};

export type Verifier = { verify: (request: VerifyRequest) => Promise<Verified> };

export function createVerifier(options: {
  config: Config;
  environment: Environment;
  runsDir: string;
  signals: Pick<SignalStore, 'update'>;
  append: (draft: EventDraft) => Promise<unknown>;
  agent: VerifierAgent;
  now: () => Date;
  run?: RunCommand;
  processStarts?: ReadProcessStarts;
  /** Limits concurrent tests; share it between the verifiers of all projects. */
  limit?: Limit;
  testTimeoutMs?: number;
  setupTimeoutMs?: number;
}): Verifier {
  const { config, environment, runsDir, signals, append, now, limit = createLimit(1) } = options;
  const run = options.run ?? runCommand;
  const secretNames = secretVariables(config);
  const git = createAskGit({ run, environment, secretNames });
  const processStarts = options.processStarts ?? system.processStarts;
  const workspaces = createWorkspaces({
    git,
    worktrees: createGit({ run, environment, secretNames }),
    processStarts,
  });
  const verifiers = createLimit(VERIFIERS_AT_ONCE);
  const { allowSelfReportedCompletion: advisory, verifier: verifierName } = config.svc.orchestration;
  /** By folder: two runs may want the same commit of the same ticket. */
  const underWay = new Map<string, Promise<unknown>>();

  async function verify(request: VerifyRequest): Promise<Verified> {
    const { orchestrator, ticket, mergeSha, base, signal, repo, pr } = request;
    try {
      checkNames({ orchestrator, ticket, shas: base === undefined ? [mergeSha] : [mergeSha, base] });
      const paths = await prepareVerifyPaths({ ...request, runsDir, sha: mergeSha });
      const worker = { orchestrator, ticket, sha: mergeSha, repo, pr };
      return await alone(paths.worktree, async () => {
        const known = await readResult(paths.result, worker);
        if (known !== undefined) return report(known, false);
        const computed = await limit(async () => {
          if (signal?.aborted) throw stopped();
          await append(startedDraft(worker, `Verifying ${mergeSha}`));
          return compute(request, paths);
        });
        const result = await computed();
        await writeResult(paths.result, result);
        return report(result, true);
      });

      async function report(result: VerificationResult, fresh: boolean): Promise<Verified> {
        const block = signalBlock(result, { advisory });
        const written = await signals.update(orchestrator, ticket, (file) => ({
          ...file,
          verification: block,
        }));
        await append(resultDraft(worker, result, { advisory }));
        return { ok: true, result, fresh, ...(!written.ok && { signalProblem: problemOf(written) }) };
      }
    } catch (error) {
      if (error instanceof Failure) return { ok: false, reason: error.message, remedy: error.remedy };
      throw error;
    }
  }

  async function alone<T>(folder: string, work: () => Promise<T>): Promise<T> {
    const before = underWay.get(folder) ?? Promise.resolve();
    const next = before.then(work);
    const settled = next.catch(() => undefined);
    underWay.set(folder, settled);
    try {
      return await next;
    } finally {
      if (underWay.get(folder) === settled) underWay.delete(folder);
    }
  }

  /** Runs the tests. What is returned asks the agent: other tests need not wait for it. */
  async function compute(
    request: VerifyRequest,
    paths: VerifyPaths,
  ): Promise<() => Promise<VerificationResult>> {
    const { orchestrator, ticket, repoFolder, mergeSha, signal } = request;
    const startedAt = now().toISOString();
    const { sha, base } = await findCommit({
      git,
      folder: repoFolder,
      sha: mergeSha,
      base: request.base,
      signal,
    });
    const change = await readChange({ git, folder: repoFolder, base, sha, signal });
    const scope = scopeOfDiff(change.changed);
    const required = scope === 'docs-only' ? [] : config.svc.orchestration.testRequirements[scope];
    const types = testTypesPresent({ scope, required, ...change });
    const variables = await variablesFor(git, config, request, paths);
    const tested = await workspaces.within({ paths, repoFolder, sha, signal }, ({ remember }) =>
      runTests({
        worktree: paths.worktree,
        ticket,
        sha,
        config,
        environment,
        variables,
        logFile: paths.log,
        testTimeoutMs: options.testTimeoutMs ?? TEST_TIMEOUT_MS,
        setupTimeoutMs: options.setupTimeoutMs ?? SETUP_TIMEOUT_MS,
        now,
        signal,
        remember,
      }),
    );
    const { tests, exitCode, durationMs } = tested;
    return async () => {
      const verifier =
        verifierName === null
          ? undefined
          : await refute(request, paths, { ...change, sha, name: verifierName });
      return {
        version: 1,
        orchestrator,
        ticket,
        base,
        scope,
        ...verdict({ scope, tests, types, advice: testAdvice(change.diff), verifier }),
        types,
        evidence: {
          sha,
          logPath: paths.log,
          testCommand: 'command' in tests ? tests.command : null,
          exitCode,
          durationMs,
        },
        ...(verifier !== undefined && { verifier }),
        startedAt,
        finishedAt: now().toISOString(),
      };
    };
  }

  /** Asks the agent to refute that the ticket is done. Whatever it does, there is a result; only a stop has none. */
  async function refute(
    request: VerifyRequest,
    paths: VerifyPaths,
    { name, sha, changed, tree, diff }: Change & { name: string; sha: string },
  ): Promise<VerifierResult> {
    const { ticket, repoFolder, signal } = request;
    const unknown = (reason: string): VerifierResult => ({
      agent: name,
      verdict: 'unknown',
      reason,
      claims: [],
    });
    try {
      const agent = await options.agent.choose(name);
      if ('problem' in agent) return unknown(`${agent.problem} ${agent.remedy}`);
      const content = await options.agent.readTicket(ticket);
      if (content === null) return unknown('the project has no tracker that could be asked for the ticket');
      const asked = await verifiers(() => ask(agent, refutationPrompt({ ticket: content, changed, diff })));
      if ('problem' in asked) return unknown(asked.problem);
      const named = new Set(asked.claims.flatMap(({ evidence }) => evidence.map(({ file }) => file)));
      const files = await linesAt({ git, folder: repoFolder, sha, paths: named });
      const inTree = new Set(tree);
      return judgeAnswer(name, asked, {
        files,
        changed: new Set(changed.filter((path) => inTree.has(path))),
      });
    } catch (error) {
      // A worktree that another process holds is tried again later.
      if (!(error instanceof Failure) || error.code === 'busy' || signal?.aborted === true) throw error;
      return unknown(`${error.message}${error.remedy === undefined ? '' : ` ${error.remedy}`}`);
    }

    async function ask(
      agent: Extract<ChosenAgent, { protocol: true }>,
      prompt: string,
    ): Promise<VerifierAnswer | { problem: string }> {
      if (signal?.aborted === true) throw stopped();
      const { worktree } = paths;
      return workspaces.within({ paths, repoFolder, sha, signal }, async ({ remember }) => {
        await makeReadOnly(worktree);
        const before = await stateOfWorktree(git, worktree);
        const answered = await askVerifier({
          agent,
          environment: options.agent.environment(),
          worktree,
          prompt,
          files: verifierFiles(paths.log),
          timeoutMs: config.svc.orchestration.verifierTimeoutSec * 1_000,
          processStarts,
          remember,
          signal,
        });
        if ((await stateOfWorktree(git, worktree)) !== before)
          return { problem: 'it changed the worktree, so its answer is void' };
        return inRepository(answered, worktree);
      });
    }
  }

  return { verify };
}

async function variablesFor(
  git: AskGit,
  { svc }: Config,
  { repoFolder, ticket }: VerifyRequest,
  { worktree }: VerifyPaths,
) {
  const remote = await git(repoFolder, ['config', '--get', 'remote.origin.url']);
  const url = remote !== 'too-large' && remote.exitCode === 0 ? remote.stdout.trim() : undefined;
  return setupVariables(worktree, ticket, {
    repository: svc.repository,
    thoughts: svc.thoughts,
    projectKey: svc.projectKey,
    remoteUrl: url,
    folderName: basename(repoFolder),
  });
}

/** Agents name files by their path in the repository, or by their full path in the worktree. */
function inRepository<Answer extends VerifierAnswer | { problem: string }>(
  answer: Answer,
  worktree: string,
): Answer {
  if ('problem' in answer) return answer;
  const claims = answer.claims.map((claim) => ({
    ...claim,
    evidence: claim.evidence.map((one) => ({
      ...one,
      file: pathInRepository(one.file, worktree) ?? one.file,
    })),
  }));
  return { ...answer, claims };
}

function problemOf(written: { why: 'missing' } | { why: 'corrupt'; problem: string }): string {
  return written.why === 'missing' ? 'the status file is missing' : written.problem;
}
