// Issues through the real client program against the fake code host.
import { type Command, runCommand } from '@svc/lib/process';
import { codehostForTest, ghEnvironment, testToken } from '@svc/testkit';
import { expect, test } from 'vitest';
import { createGh } from './gh.ts';
import { createIssueApi } from './issues.ts';

async function setup() {
  const codehost = await codehostForTest();
  codehost.cloud.addRepo('acme/inbox', { admin: false });
  const commands: Command[] = [];
  const gh = createGh({
    environment: ghEnvironment(codehost, testToken),
    run: (command) => {
      commands.push(command);
      return runCommand(command);
    },
    now: Date.now,
  });
  return { codehost, commands, issues: createIssueApi(gh) };
}

const issue = { title: 'A "title" $(x)', body: 'the text\nsvc-key: k-1', labels: ['auto-submitted'] };

test('an issue is created, with none of its text in the arguments', async () => {
  const { codehost, commands, issues } = await setup();
  expect(await issues.create('acme/inbox', issue)).toMatchObject({
    ok: true,
    value: { number: 1, html_url: 'https://codehost.example/acme/inbox/issues/1' },
  });
  expect(codehost.cloud.repoOf('acme/inbox').issues).toMatchObject([issue]);
  expect(JSON.stringify(commands[0]?.args)).not.toMatch(/title|text|auto/);
});

test('an issue is found by its text on any page, closed or not, but not if it is older', async () => {
  const { codehost, issues } = await setup();
  const now = Date.now();
  codehost.cloud.addIssue('acme/inbox', { ...issue, state: 'closed' });
  codehost.cloud.addIssue('acme/inbox', { title: 'old', body: 'k-old', updatedAt: now - 3_600_000 });
  for (let number = 0; number < 150; number += 1) codehost.cloud.addIssue('acme/inbox', { title: 'other' });
  expect(await issues.withText('acme/inbox', 'svc-key: k-1', now)).toMatchObject({
    ok: true,
    value: { number: 1 },
  });
  expect(await issues.withText('acme/inbox', 'k-old', now)).toEqual({ ok: true, value: undefined });
  expect(await issues.withText('acme/inbox', 'k-2', now)).toEqual({ ok: true, value: undefined });
});

test('a refusal by the code host is a problem, not an issue', async () => {
  const { issues } = await setup();
  expect(await issues.create('acme/inbox', { ...issue, title: '' })).toMatchObject({
    ok: false,
    problem: { kind: 'refused', status: 422 },
  });
  expect(await issues.create('acme/gone', issue)).toMatchObject({
    ok: false,
    problem: { kind: 'not-found' },
  });
  expect(await issues.withText('acme/gone', 'k', 0)).toMatchObject({ ok: false });
});
