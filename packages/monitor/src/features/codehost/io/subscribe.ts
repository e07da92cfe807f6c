// Makes sure that repositories have our hook: at start the watched ones, later each newly found one, once. A repository
// where that fails is polled and retried, and does not affect the others:
//
//   webhook   the hook exists, with the event types and the secret that we want; no more calls are made.
//   polling   there is no channel, no secret or no consent for a hook; or the code host refused or did not answer: then
//             it is retried soon if the problem passes by itself, and later if a person has to act.
import { repoKey, repoNameIn } from '@svc/contract/repo-name';
import { messageOf } from '@svc/lib/errors';
import type { GhResult } from '../gh.ts';
import { type HookHold, hookPlan, newHookBody, updatedHookBody } from '../hook-plan.ts';
import { type CodehostProblem, codehostProblemWords, passesByItself } from '../problem.ts';
import { type HookApi, type HookMemory, secretFingerprint } from './hooks.ts';

const SOON_MS = 600_000;
const LATER_MS = 6 * 3_600_000;

export type Coverage =
  | { repo: string; by: 'webhook'; hookId: number; how: 'created' | 'updated' | 'kept'; since: number }
  /** `problem` is null if no hook is wanted, which is not a failure: `hold` is the reason. */
  | {
      repo: string;
      by: 'polling';
      problem: CodehostProblem | null;
      hold: HookHold | null;
      since: number;
      retryAt: number | null;
    };

export type SubscriptionWarning = { repo: string; message: string; code: string; remedy: string };

export type Subscriptions = {
  /** Resolves with what covers the repository; concurrent calls share one attempt. */
  ensure: (repo: string) => Promise<Coverage>;
  ensureAll: (repos: Iterable<string>) => Promise<Coverage[]>;
  /** Retries those that are due. Call it with every reconciliation. */
  retryDue: () => Promise<Coverage[]>;
  coverage: () => Coverage[];
  isCovered: (repo: string) => boolean;
  /** The hook turned out to be gone: the next `ensure` checks again. */
  forget: (repo: string) => void;
};

export type SubscriptionOptions = {
  hooks: HookApi;
  /** Undefined without a channel: then everything is polled, without a warning. */
  channelUrl: () => string | undefined;
  /** The secret that the repository's deliveries are signed with; undefined if it is not set. */
  secretFor: (repo: string) => string | undefined;
  /** What the repository's hook has to report. */
  events: (repo: string) => readonly string[];
  /** Why no hook may be created, although one could be. */
  heldBack: (repo: string) => HookHold | null;
  memory: HookMemory;
  now: () => number;
  warn: (warning: SubscriptionWarning) => void;
};

type Attempt = 'list' | 'create' | 'update';
type Outcome =
  | { ok: true; hookId: number; how: 'created' | 'updated' | 'kept' }
  | { ok: false; during: Attempt; problem: CodehostProblem };

export function createSubscriptions(options: SubscriptionOptions): Subscriptions {
  const { hooks, secretFor, memory, now, warn } = options;
  const known = new Map<string, Coverage>();
  const underWay = new Map<string, Promise<Coverage>>();

  async function attempt(repo: string, url: string, secret: string, isSecondTry = false): Promise<Outcome> {
    const listed = await hooks.list(repo);
    if (!listed.ok) return { ok: false, during: 'list', problem: listed.problem };
    const fingerprint = secretFingerprint(secret);
    const events = options.events(repo);
    const plan = hookPlan(listed.value, {
      channelUrl: url,
      events,
      secretFingerprint: fingerprint,
      fingerprintOf: (hookId) => memory.fingerprintOf(repo, hookId),
    });
    if (plan.step === 'keep') return { ok: true, hookId: plan.hook.id, how: 'kept' };
    const during = plan.step;
    const changed =
      plan.step === 'create'
        ? await hooks.create(repo, newHookBody(url, secret, events))
        : await hooks.update(repo, plan.hook.id, updatedHookBody(plan.hook, url, secret, events));
    // Another process may have created it between the two calls.
    if (isThereAlready(changed) && !isSecondTry) return attempt(repo, url, secret, true);
    if (!changed.ok) return { ok: false, during, problem: changed.problem };
    await memory
      .remember(repo, changed.value.id, fingerprint)
      .catch((error: unknown) => warn(notRemembered(repo, error)));
    return { ok: true, hookId: changed.value.id, how: during === 'create' ? 'created' : 'updated' };
  }

  async function subscribe(repo: string): Promise<Coverage> {
    const secret = secretFor(repo);
    const channelUrl = options.channelUrl();
    const held = options.heldBack(repo);
    if (held !== null) return polled(repo, null, null, held);
    if (channelUrl === undefined || secret === undefined) return polled(repo, null, null, 'not-configured');
    const outcome: Outcome =
      repoNameIn(repo) === undefined
        ? {
            ok: false,
            during: 'list',
            problem: { kind: 'repo-gone', message: 'not a name of the form owner/name' },
          }
        : await attempt(repo, channelUrl, secret);
    if (outcome.ok) return { repo, by: 'webhook', hookId: outcome.hookId, how: outcome.how, since: now() };
    const { problem } = outcome;
    const before = known.get(repoKey(repo));
    const isNews = before?.by !== 'polling' || before.problem?.kind !== problem.kind;
    if (isNews) warn(warningFor(repo, outcome.during, problem));
    return polled(repo, problem, now() + retryDelay(problem, now()));
  }

  function polled(
    repo: string,
    problem: CodehostProblem | null,
    retryAt: number | null,
    hold: HookHold | null = null,
  ): Coverage {
    const before = known.get(repoKey(repo));
    const since = before?.by === 'polling' ? before.since : now();
    return { repo, by: 'polling', problem, hold, since, retryAt };
  }

  async function ensure(repo: string): Promise<Coverage> {
    const key = repoKey(repo);
    const settled = known.get(key);
    if (settled !== undefined && !isDue(settled, now())) return settled;
    const running = underWay.get(key) ?? subscribe(repo);
    underWay.set(key, running);
    try {
      const coverage = await running;
      known.set(key, coverage);
      return coverage;
    } finally {
      underWay.delete(key);
    }
  }

  const ensureAll = (repos: Iterable<string>): Promise<Coverage[]> => {
    const once = new Map([...repos].map((repo) => [repoKey(repo), repo]));
    return Promise.all(once.values().map(ensure));
  };

  return {
    ensure,
    ensureAll,
    retryDue: () =>
      ensureAll(
        known
          .values()
          .filter((coverage) => isDue(coverage, now()))
          .map(({ repo }) => repo),
      ),
    coverage: () => [...known.values()],
    isCovered: (repo) => known.get(repoKey(repo))?.by === 'webhook',
    forget: (repo) => void known.delete(repoKey(repo)),
  };
}

function isDue(coverage: Coverage, now: number): boolean {
  return coverage.by === 'polling' && coverage.retryAt !== null && now >= coverage.retryAt;
}

function retryDelay(problem: CodehostProblem, now: number): number {
  if (problem.kind === 'rate-limited' || problem.kind === 'throttled')
    return Math.max(problem.until - now, 0);
  const isSoon = passesByItself(problem) || problem.kind === 'logged-out' || problem.kind === 'gh-missing';
  return isSoon ? SOON_MS : LATER_MS;
}

function isThereAlready(result: GhResult<unknown>): boolean {
  return !result.ok && result.problem.kind === 'refused' && /already exists/i.test(result.problem.message);
}

const endings: Record<Attempt, (repo: string) => string> = {
  list: (repo) => `Failed to list the hooks of ${repo}, skipping it and polling instead`,
  create: (repo) => `Failed to create a hook for ${repo}, falling back to polling`,
  update: (repo) => `Failed to update the hook of ${repo}, falling back to polling`,
};

function warningFor(repo: string, during: Attempt, problem: CodehostProblem): SubscriptionWarning {
  const { code, why, remedy } = codehostProblemWords(problem);
  return { repo, message: `${endings[during](repo)}: ${why}.`, code, remedy };
}

/** Harmless: the next start sets the hook's secret once more. */
function notRemembered(repo: string, error: unknown): SubscriptionWarning {
  const why = messageOf(error);
  return {
    repo,
    message: `The hook of ${repo} is set, but this could not be saved: ${why}.`,
    code: 'file-unusable',
    remedy: 'Free disk space and check the data folder.',
  };
}
