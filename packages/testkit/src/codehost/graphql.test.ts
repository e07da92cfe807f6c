// Issues and projects through GraphQL, and through the commands of the real client program.
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { startRecordingServer } from '../observability/recording-server.ts';
import type { JsonObject } from '../payloads/examples.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { codehostForTest, codehostName, runGh } from './fake-codehost.ts';

const WEB = 'acme/web';

async function setup() {
  const codehost = await codehostForTest();
  const repo = codehost.cloud.addRepo(WEB);
  const ask = async (query: string, variables: JsonObject = {}, token?: string) => {
    const input = JSON.stringify({ query, variables });
    const { stdout } = await runGh(codehost, ['api', 'graphql', '--input', '-'], {
      input,
      ...(token !== undefined && { token }),
    });
    return JSON.parse(stdout) as { data: JsonObject; errors?: JsonObject[] };
  };
  return { codehost, cloud: codehost.cloud, issues: codehost.issues, repo, ask };
}

test('several issues in one query, with their relations and who labelled them', async () => {
  const { codehost, cloud, issues, ask } = await setup();
  cloud.addPerson(WEB, 'lee');
  for (const [title, author] of [
    ['One', 'lee'],
    ['Two', 'mallory'],
    ['Three', 'kim'],
  ] as const)
    cloud.addIssue(WEB, { title, author });
  await issues.addSubIssue(WEB, 1, 2);
  await issues.block(WEB, 1, 3);
  await issues.label(WEB, 1, 'svc:run', 'mallory');
  await issues.assign(WEB, 1, 'kim', 'lee');
  await issues.close(WEB, 3, 'not_planned');
  const { data } = await ask(`{
    repository(owner: "acme", name: "web") {
      i1: issue(number: 1) { ...all }
      i2: issue(number: 2) { ...all }
      issues(first: 10, states: [CLOSED], orderBy: { field: UPDATED_AT, direction: ASC }) {
        nodes { number stateReason }
      }
    }
  }
  fragment all on Issue {
    number title body state stateReason author { login } authorAssociation
    labels(first: 10) { nodes { name } } assignees(first: 10) { nodes { login } }
    parent { number } subIssues(first: 10) { nodes { number } } subIssuesSummary { total percentCompleted }
    blockedBy(first: 10) { nodes { number state } } issueDependenciesSummary { blockedBy totalBlockedBy }
    timelineItems(first: 10, itemTypes: [LABELED_EVENT]) {
      nodes { ... on LabeledEvent { actor { login } label { name } } }
    }
  }`);
  expect(data['repository']).toMatchObject({
    i1: {
      number: 1,
      body: '',
      state: 'OPEN',
      author: { login: 'lee' },
      authorAssociation: 'COLLABORATOR',
      labels: { nodes: [{ name: 'svc:run' }] },
      assignees: { nodes: [{ login: 'kim' }] },
      subIssues: { nodes: [{ number: 2 }] },
      subIssuesSummary: { total: 1, percentCompleted: 0 },
      blockedBy: { nodes: [{ number: 3, state: 'CLOSED' }] },
      issueDependenciesSummary: { blockedBy: 0, totalBlockedBy: 1 },
      timelineItems: { nodes: [{ actor: { login: 'mallory' }, label: { name: 'svc:run' } }] },
    },
    i2: { parent: { number: 1 }, authorAssociation: 'NONE' },
    issues: { nodes: [{ number: 3, stateReason: 'NOT_PLANNED' }] },
  });
  expect(codehost.callCounts()).toEqual({ 'graphql repository': 1 });
});

test('a status is read by its name and changed by its id, and the organization’s hook hears of it', async () => {
  const { cloud, ask } = await setup();
  const relay = await startRecordingServer((_request, response) => void response.end('ok'));
  cloud.addOrganizationHook('acme', { events: ['projects_v2_item'], config: { url: relay.url } });
  const issue = cloud.addIssue(WEB, { title: 'One' });
  cloud.addProject('acme', ['Todo', 'Doing']);
  const { data } = await ask(`{ organization(login: "acme") { projectV2(number: 1) {
    id field(name: "Status") { ... on ProjectV2SingleSelectField { id options { id name } } }
  } } }`);
  const { projectV2 } = data['organization'] as {
    projectV2: { id: string; field: { id: string; options: { id: string; name: string }[] } };
  };
  expect(projectV2.field.options.map(({ name }) => name)).toEqual(['Todo', 'Doing']);
  const added = await ask(
    `mutation($input: AddProjectV2ItemByIdInput!) { addProjectV2ItemById(input: $input) { item { id } } }`,
    { input: { projectId: projectV2.id, contentId: `I_${issue.id}` } },
  );
  const { item } = added.data['addProjectV2ItemById'] as { item: { id: string } };
  const set = (singleSelectOptionId: string | undefined) =>
    ask(
      `mutation($input: UpdateProjectV2ItemFieldValueInput!) {
        updateProjectV2ItemFieldValue(input: $input) { projectV2Item { id } } }`,
      {
        input: {
          projectId: projectV2.id,
          itemId: item.id,
          fieldId: projectV2.field.id,
          value: { singleSelectOptionId },
        },
      },
    );
  expect((await set(projectV2.field.options[1]?.id)).errors).toBeUndefined();
  expect((await set('none')).errors).toMatchObject([{ type: 'UNPROCESSABLE' }]);
  const status = `projectItems(first: 5) { nodes { project { number }
    fieldValueByName(name: "Status") { ... on ProjectV2ItemFieldSingleSelectValue { name optionId } } } }`;
  const read = await ask(`query($ids: [ID!]!) { nodes(ids: $ids) { ... on Issue { number ${status} } } }`, {
    ids: [`I_${issue.id}`, 'I_0'],
  });
  expect(read.data['nodes']).toMatchObject([
    { number: 1, projectItems: { nodes: [{ project: { number: 1 }, fieldValueByName: { name: 'Doing' } }] } },
    null,
  ]);
  expect(read.errors).toMatchObject([{ type: 'NOT_FOUND', path: ['nodes', 1] }]);
  await expect.poll(() => relay.requests).toHaveLength(2);
});

test('projects need their scope, and a user’s project is not an organization’s', async () => {
  const { codehost, cloud, ask } = await setup();
  codehost.addToken('gho_plain', ['repo', 'read:org', 'gist']);
  cloud.addRepo('kim/own', { owner: 'User' });
  cloud.addProject('kim');
  const user = '{ user(login: "kim") { projectV2(number: 1) { title } } }';
  expect((await ask(user)).data).toEqual({ user: { projectV2: { title: 'Project 1' } } });
  expect((await ask(user, {}, 'gho_plain')).errors).toMatchObject([{ type: 'INSUFFICIENT_SCOPES' }]);
  const wrong = await ask('{ organization(login: "kim") { projectV2(number: 1) { title } } }');
  expect(wrong).toMatchObject({ data: { organization: null }, errors: [{ type: 'NOT_FOUND' }] });
});

test('pages go on at the cursor; rows without a size and unknown fields are rejected', async () => {
  const { cloud, ask } = await setup();
  for (let number = 1; number <= 5; number += 1) cloud.addIssue(WEB, { title: `${number}` });
  const page = async (after: string | null) => {
    const { data } = await ask(
      `query($after: String) { repository(owner: "acme", name: "web") { issues(first: 2, after: $after) {
        totalCount nodes { number } pageInfo { hasNextPage endCursor } } } }`,
      { after },
    );
    return (data['repository'] as { issues: Page }).issues;
  };
  type Page = { nodes: { number: number }[]; pageInfo: { hasNextPage: boolean; endCursor: string } };
  const seen: number[] = [];
  for (let after: string | null = null, isMore = true; isMore; ) {
    const { nodes, pageInfo }: Page = await page(after);
    seen.push(...nodes.map(({ number }) => number));
    [after, isMore] = [pageInfo.endCursor, pageInfo.hasNextPage];
  }
  expect(seen).toEqual([1, 2, 3, 4, 5]);
  const unsized = await ask('{ repository(owner: "acme", name: "web") { issues { nodes { number } } } }');
  expect(unsized.errors).toMatchObject([{ message: expect.stringContaining('`first` or `last`') }]);
  const unknown = await ask('{ repository(owner: "acme", name: "web") { issue(number: 1) { status } } }');
  expect(unknown.errors).toMatchObject([{ message: expect.stringContaining('Cannot query field "status"') }]);
});

test('faults reach GraphQL by the kind of the call', async () => {
  const { codehost } = await setup();
  codehost.failNext({ kind: 'rate-limited', retryAfter: 7 }, { on: 'graphql viewer' });
  const query = (fields: string) => runGh(codehost, ['api', '-i', 'graphql', '-f', `query={${fields}}`]);
  expect((await query('repository(owner: "acme", name: "web") { id }')).code).toBe(0);
  const refused = await query('viewer { login }');
  expect(refused.stdout).toMatch(/403 Forbidden[^]*Retry-After: 7/);
});

test('the client’s own commands work in a clone: issues, labels and pull requests', async () => {
  const { codehost, repo } = await setup();
  const cwd = temporaryFolder('svc-clone-');
  const git = (...args: string[]) => execFileSync('git', args, { cwd });
  git('init', '-q', '-b', 'main');
  git('remote', 'add', 'origin', `https://${codehostName}/${WEB}.git`);
  git('-c', 'user.name=Kim', '-c', 'user.email=kim@example.test', 'commit', '-qm', 'Start', '--allow-empty');
  const gh = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await runGh(codehost, args, { cwd });
    if (code !== 0) throw new Error(`gh ${args.join(' ')}: ${stderr}`);
    return stdout.trim();
  };
  await gh('label', 'create', 'In Review', '--color', 'ff0000', '--description', 'Someone reads it');
  expect(await gh('label', 'list')).toContain('In Review');
  const made = await gh('issue', 'create', '-t', 'One', '-b', 'Text', '-l', 'In Review', '-a', '@me');
  expect(made).toBe(`https://${codehostName}/${WEB}/issues/1`);
  await gh('issue', 'edit', '1', '-t', 'Two', '--remove-label', 'In Review');
  await gh('issue', 'comment', '1', '-b', 'Why?');
  expect(await gh('issue', 'view', '1', '--comments')).toContain('Why?');
  await gh('issue', 'close', '1', '--reason', 'not planned');
  expect(repo.issues).toMatchObject([
    { title: 'Two', labels: [], assignees: ['kim'], state: 'closed', stateReason: 'not_planned' },
  ]);
  await gh('issue', 'reopen', '1');
  expect(await gh('issue', 'list')).toContain('Two');
  expect(JSON.parse(await gh('issue', 'view', '1', '--json', 'number,state,labels'))).toEqual({
    number: 1,
    state: 'OPEN',
    labels: [],
  });
  const url = await gh('pr', 'create', '-t', 'Change', '-b', 'Closes #1', '-H', 'gh-1', '-B', 'main');
  expect(url).toBe(`https://${codehostName}/${WEB}/pull/2`);
  expect(repo.pullRequests).toMatchObject([{ title: 'Change', body: 'Closes #1', branch: 'gh-1' }]);
  await expect(gh('pr', 'create', '-t', 'Again', '-b', '', '-H', 'gh-1', '-B', 'main')).rejects.toThrow(
    'already exists',
  );
  expect(await gh('pr', 'list', '--head', 'gh-1', '--json', 'number')).toBe('[{"number":2}]');
});
