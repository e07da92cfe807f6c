// What the code host requires for a merge to main (read only): the settings of the repository, the rules of the branch,
// and which checks ran on the newest closed pull requests.
import { z } from 'zod';
import { done, type Gh, type GhResult, parsed } from '../codehost/gh.ts';
import {
  BranchRules,
  type MergeFacts,
  PROTECTED_BRANCH,
  RepositorySettings,
  requiredContexts,
} from './merge-findings.ts';

/** Two calls each, and only if checks are required. */
const PULL_REQUESTS = 3;

const Pulls = z.array(z.looseObject({ head: z.looseObject({ sha: z.string().regex(/^[0-9a-f]{40,64}$/) }) }));
const CheckRuns = z.looseObject({ check_runs: z.array(z.looseObject({ name: z.string() })) });
const Statuses = z.looseObject({ statuses: z.array(z.looseObject({ context: z.string() })) });

export async function readMergeFacts(gh: Pick<Gh, 'request'>, repo: string): Promise<GhResult<MergeFacts>> {
  const ask = async <Value>(path: string, shape: z.ZodType<Value>): Promise<GhResult<Value>> => {
    const answer = await gh.request({ path: `repos/${repo}${path}` });
    return answer.ok ? parsed(shape, answer.value.json) : answer;
  };
  const settings = await ask('', RepositorySettings);
  if (!settings.ok) return settings;
  const rules = await ask(`/rules/branches/${PROTECTED_BRANCH}?per_page=100`, BranchRules);
  if (!rules.ok) return rules;
  const facts = { repo, settings: settings.value, rules: rules.value };
  if (requiredContexts(rules.value).length === 0) return done({ ...facts, ran: [] });

  const pulls = await ask(`/pulls?state=closed&base=${PROTECTED_BRANCH}&per_page=${PULL_REQUESTS}`, Pulls);
  if (!pulls.ok) return pulls;
  const ran: string[][] = [];
  for (const { head } of pulls.value) {
    const runs = await ask(`/commits/${head.sha}/check-runs?per_page=100`, CheckRuns);
    if (!runs.ok) return runs;
    const statuses = await ask(`/commits/${head.sha}/status?per_page=100`, Statuses);
    if (!statuses.ok) return statuses;
    ran.push([
      ...runs.value.check_runs.map(({ name }) => name),
      ...statuses.value.statuses.map(({ context }) => context),
    ]);
  }
  return done({ ...facts, ran });
}
