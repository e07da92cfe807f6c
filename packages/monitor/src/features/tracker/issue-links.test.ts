import { runCommand } from '@svc/lib/process';
import { codehostForTest, ghEnvironment, testToken } from '@svc/testkit';
import { expect, test } from 'vitest';
import { createGh } from '../codehost/gh.ts';
import { openTracker } from './io/open-tracker.ts';
import { meansOf } from './testing/client-of.ts';
import { projectConfig } from './testing/project-config.ts';
import { trackerOf } from './tracker-of.ts';

const repo = 'acme/web';

test('the links of an issue name its parent, its sub-issues and the pull requests that close it', async () => {
  const fake = await codehostForTest();
  fake.cloud.addRepo(repo);
  const [whole, issue, part] = ['Whole', 'Issue', 'Part'].map((title) =>
    fake.cloud.addIssue(repo, { title }),
  );
  if (whole === undefined || issue === undefined || part === undefined) throw new Error('no issues');
  await fake.issues.addSubIssue(repo, whole.number, issue.number);
  await fake.issues.addSubIssue(repo, issue.number, part.number);
  const closing = { body: `Fixes #${issue.number}.` };
  fake.cloud.addPullRequest(repo, { number: 11, title: 'Repair it', state: 'CLOSED', ...closing });
  fake.cloud.addPullRequest(repo, { number: 12, title: 'Other', body: `Fixes #${part.number}` });
  const chosen = trackerOf(
    projectConfig({ provider: 'github' }, { token: null, repository: { org: 'acme', name: 'web' } }),
  );
  if (chosen.provider === undefined) throw new Error(chosen.why);
  const gh = createGh({ environment: ghEnvironment(fake, testToken), run: runCommand, now: Date.now });
  const tracker = openTracker(chosen, { ...meansOf({ url: '' }), gh: () => gh });
  const text = await tracker.issueText(`GH-${issue.number}`);
  expect(text?.links.map(({ title }) => title)).toEqual([
    `Parent: #${whole.number} Whole`,
    `Sub-issue: #${part.number} Part`,
    'Pull request: #11 Repair it',
  ]);
  expect(text?.links.at(-1)?.url).toMatch(/\/acme\/web\/pull\/11$/);
});
