// Hooks of repositories and their deliveries, through the REST API.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { repoKey, repoNameIn } from '@svc/contract/repo-name';
import { readText } from '@svc/lib/paths';
import { writeFileAtomically } from '../../../kernel/disk/atomic-write.ts';
import { hostTimeOf } from '../api-answer.ts';
import { done, failed, type Gh, type GhResult, malformed, nextPage, parsed } from '../gh.ts';
import { CodehostHook, type HookBody, hooksOfChannel } from '../hook-plan.ts';
import { DeliveryPayload, deliveriesSince, HookDelivery, reachesBefore } from '../missing-deliveries.ts';
import type { CodehostProblem } from '../problem.ts';

const PAGE_SIZE = 100;
/** Three days of a busy repository; more means that the server never stops paging. */
const MOST_PAGES = 500;

export type HookApi = {
  /** All pages, or a problem. */
  list: (repo: string) => Promise<GhResult<CodehostHook[]>>;
  create: (repo: string, body: HookBody & { name: 'web' }) => Promise<GhResult<CodehostHook>>;
  update: (repo: string, hookId: number, body: HookBody) => Promise<GhResult<CodehostHook>>;
  /** False if it was already gone. */
  remove: (repo: string, hookId: number) => Promise<GhResult<boolean>>;
  /** What was sent in the last `withinMs` by the code host's clock; once per event, oldest first. */
  deliveries: (repo: string, hookId: number, withinMs: number) => Promise<GhResult<HookDelivery[]>>;
  payload: (repo: string, hookId: number, deliveryId: string) => Promise<GhResult<Record<string, unknown>>>;
};

/** Callers check the names of repositories (`repoNameIn`). */
export function createHookApi(gh: Gh): HookApi {
  /** The code host answers "not found" also for missing rights: one more request finds out which it is. */
  async function explained(repo: string, problem: CodehostProblem): Promise<CodehostProblem> {
    if (problem.kind !== 'not-found') return problem;
    const found = await gh.request({ path: `repos/${repo}` });
    if (found.ok) return { kind: 'no-admin', message: problem.message };
    return found.problem.kind === 'not-found'
      ? { kind: 'repo-gone', message: problem.message }
      : found.problem;
  }

  async function hook(
    repo: string,
    method: 'POST' | 'PATCH',
    path: string,
    body: HookBody,
  ): Promise<GhResult<CodehostHook>> {
    const secrets = [body.config.secret];
    const answer = await gh.request({ method, path, body, secrets });
    if (!answer.ok) return failed(await explained(repo, answer.problem));
    return parsed(CodehostHook, answer.value.json);
  }

  return {
    async list(repo) {
      const listed = await gh.list(`repos/${repo}/hooks?per_page=${PAGE_SIZE}`);
      if (!listed.ok) return failed(await explained(repo, listed.problem));
      return parsed(CodehostHook.array(), listed.value);
    },
    create: (repo, body) => hook(repo, 'POST', `repos/${repo}/hooks`, body),
    update: (repo, hookId, body) => hook(repo, 'PATCH', `repos/${repo}/hooks/${hookId}`, body),
    async remove(repo, hookId) {
      const answer = await gh.request({ method: 'DELETE', path: `repos/${repo}/hooks/${hookId}` });
      if (answer.ok) return done(true);
      return answer.problem.kind === 'not-found' ? done(false) : answer;
    },
    async deliveries(repo, hookId, withinMs) {
      const path = `repos/${repo}/hooks/${hookId}/deliveries?per_page=${PAGE_SIZE}`;
      const found: HookDelivery[] = [];
      const cursors = new Set<string>();
      let since: number | undefined;
      for (let cursor = ''; cursors.size < MOST_PAGES; ) {
        const answer = await gh.request({
          path: cursor === '' ? path : `${path}&cursor=${encodeURIComponent(cursor)}`,
        });
        if (!answer.ok) return answer;
        const page = parsed(HookDelivery.array(), answer.value.json);
        if (!page.ok) return page;
        since ??= hostTimeOf(answer.value) - withinMs;
        found.push(...page.value);
        const next = nextPage(answer.value)?.searchParams.get('cursor') ?? '';
        if (next === '' || reachesBefore(page.value, since)) return done(deliveriesSince(found, since));
        if (cursors.has(next)) return malformed('its pages form a loop');
        cursors.add(next);
        cursor = next;
      }
      return malformed(`a list has more than ${MOST_PAGES} pages`);
    },
    async payload(repo, hookId, deliveryId) {
      const answer = await gh.request({ path: `repos/${repo}/hooks/${hookId}/deliveries/${deliveryId}` });
      if (!answer.ok) return answer;
      const read = parsed(DeliveryPayload, answer.value.json);
      return read.ok ? done(read.value.request.payload) : read;
    },
  };
}

// Removes the hooks of a channel that is no longer ours, after a rotation: they would keep sending every event of the
// repository to a channel that anyone with the old address can read.

export type Unsubscribed = { repo: string; removed: number; problem: CodehostProblem | null };

/** One report per repository; a failure at one does not affect the others. Running it again removes the rest. */
export async function unsubscribe(
  hooks: HookApi,
  channelUrl: string,
  repos: readonly string[],
): Promise<Unsubscribed[]> {
  const wellNamed = repos.filter((repo) => repoNameIn(repo) !== undefined);
  return Promise.all(wellNamed.map((repo) => unsubscribeRepo(hooks, channelUrl, repo)));
}

async function unsubscribeRepo(hooks: HookApi, channelUrl: string, repo: string): Promise<Unsubscribed> {
  const listed = await hooks.list(repo);
  if (!listed.ok) return { repo, removed: 0, problem: listed.problem };
  let removed = 0;
  for (const { id } of hooksOfChannel(listed.value, channelUrl)) {
    const gone = await hooks.remove(repo, id);
    if (!gone.ok) return { repo, removed, problem: gone.problem };
    if (gone.value) removed += 1;
  }
  return { repo, removed, problem: null };
}

// Which secret we last gave to which hook, as fingerprints: the code host never shows a hook's secret, so this is how
// a rotation is noticed. Losing the file costs one unnecessary update per hook.

export type HookMemory = {
  /** The repositories that have or had one of our hooks. */
  repos: () => string[];
  fingerprintOf: (repo: string, hookId: number) => string | undefined;
  remember: (repo: string, hookId: number, fingerprint: string) => Promise<void>;
};

export const hookMemoryFile = (dataDir: string): string => join(dataDir, 'hook-secrets.json');

/** Differs for different secrets; does not reveal the secret. */
export function secretFingerprint(secret: string): string {
  return createHash('sha256').update(`svc hook secret\n${secret}`).digest('hex').slice(0, 16);
}

export async function openHookMemory(path: string): Promise<HookMemory> {
  const known = new Map(Object.entries(await readKnown(path)));
  let writing: Promise<void> = Promise.resolve();
  return {
    repos: () => [...new Set([...known.keys()].map(repoIn))],
    fingerprintOf: (repo, hookId) => known.get(keyOf(repo, hookId)),
    async remember(repo, hookId, fingerprint) {
      known.set(keyOf(repo, hookId), fingerprint);
      const write = (): Promise<void> =>
        writeFileAtomically(path, `${JSON.stringify(Object.fromEntries(known), null, 2)}\n`, { mode: 0o600 });
      writing = writing.then(write, write);
      await writing;
    },
  };
}

function keyOf(repo: string, hookId: number): string {
  return `${repoKey(repo)}#${hookId}`;
}

function repoIn(key: string): string {
  return key.replace(/#\d+$/, '');
}

/** Empty if the file is missing or broken. */
async function readKnown(path: string): Promise<Record<string, string>> {
  const text = await readText(path).catch(() => '{}');
  try {
    const value: unknown = JSON.parse(text);
    const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
    return Object.fromEntries(
      entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    );
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}
