// `check_suite` and `status`: what automated checks say of a commit.
import type { CheckSuiteDetail, CommitStatusDetail } from '../log/codehost-details.ts';
import type { CodehostFact } from './codehost-fact.ts';
import { knownDetail } from './only-known.ts';
import {
  asFields,
  type Fields,
  integerAt,
  listAt,
  namesAt,
  objectAt,
  textAt,
  timeAt,
} from './payload-fields.ts';

const MOST_PULL_REQUESTS = 100;

export function checkSuiteFact(payload: Fields, action: string): CodehostFact {
  const suite = objectAt(payload, 'check_suite');
  const prs = pullRequestsOf(payload, suite);
  const app = objectAt(suite, 'app');
  const detail: CheckSuiteDetail = {
    suiteId: integerAt(suite, 'id'),
    status: textAt(suite, 'status'),
    conclusion: textAt(suite, 'conclusion'),
    prs,
    app: textAt(app, 'slug') ?? textAt(app, 'name'),
    checkRuns: integerAt(suite, 'latest_check_runs_count'),
    before: textAt(suite, 'before'),
    after: textAt(suite, 'after'),
  };
  return {
    topic: `codehost.check_suite.${action}`,
    scope: {
      pr: prs.length === 1 ? prs[0] : undefined,
      branch: textAt(suite, 'head_branch'),
      sha: textAt(suite, 'head_sha'),
    },
    occurredAt: timeAt(suite, 'updated_at'),
    detail: knownDetail(detail),
  };
}

/** The code host also lists pull requests of other repositories that share the commit; those are left out. */
function pullRequestsOf(payload: Fields, suite: Fields): number[] {
  const ours = integerAt(objectAt(payload, 'repository'), 'id');
  const numbers: number[] = [];
  for (const item of listAt(suite, 'pull_requests').slice(0, MOST_PULL_REQUESTS)) {
    const pullRequest = asFields(item) ?? {};
    const number = integerAt(pullRequest, 'number');
    const target = integerAt(objectAt(objectAt(pullRequest, 'base'), 'repo'), 'id') ?? ours;
    if (number !== undefined && target === ours) numbers.push(number);
  }
  return numbers;
}

export function commitStatusFact(payload: Fields): CodehostFact {
  const branches = namesAt(payload, 'branches', 'name');
  const detail: CommitStatusDetail = {
    statusId: integerAt(payload, 'id'),
    state: textAt(payload, 'state'),
    context: textAt(payload, 'context'),
    description: textAt(payload, 'description'),
    url: textAt(payload, 'target_url'),
    branches,
  };
  return {
    topic: `codehost.status.${detail.state}`,
    scope: { branch: branches?.length === 1 ? branches[0] : undefined, sha: textAt(payload, 'sha') },
    occurredAt: timeAt(payload, 'updated_at') ?? timeAt(payload, 'created_at'),
    detail: knownDetail(detail),
  };
}
