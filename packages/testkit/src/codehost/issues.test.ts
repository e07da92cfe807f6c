// Checks issues of the fake with the real client program, and deliveries against the vendor's published examples.
import { expect, test } from 'vitest';
import { startRecordingServer } from '../observability/recording-server.ts';
import { publishedExamples } from '../payloads/codehost-variants.ts';
import type { JsonObject } from '../payloads/examples.ts';
import { codehostForTest, runGh } from './fake-codehost.ts';

const WEB = 'acme/web';

type Heard = { event: string; payload: JsonObject };

async function setup() {
  const codehost = await codehostForTest();
  codehost.cloud.addRepo(WEB);
  const relay = await startRecordingServer((_request, response) => void response.end('ok'));
  const config = { url: relay.url, content_type: 'json', secret: 's3cret' };
  codehost.cloud.addHook(WEB, { events: ['*'], config });
  const heard = (): Heard[] =>
    relay.requests.map(({ headers, body }) => ({
      event: String(headers['x-github-event']),
      payload: JSON.parse(body) as JsonObject,
    }));
  /** `issues opened`, `issue_comment created` … */
  const names = (): string[] => heard().map(({ event, payload }) => `${event} ${String(payload['action'])}`);
  const api = async (args: string[], input?: object) => {
    const body = input === undefined ? [] : ['--input', '-'];
    const given = { input: input === undefined ? '' : JSON.stringify(input) };
    const { stdout, stderr, code } = await runGh(codehost, ['api', ...args, ...body], given);
    if (code !== 0) throw new Error(`${stderr}${stdout}`);
    return stdout === '' ? undefined : (JSON.parse(stdout) as JsonObject);
  };
  return { codehost, relay, config, heard, names, api, issues: codehost.issues };
}

const path = (rest: string): string => `repos/${WEB}/issues${rest}`;

test('an issue is created, changed and closed, and the hook hears each difference', async () => {
  const { api, names, heard, relay } = await setup();
  const made = await api([path('')], { title: 'Slow', body: 'It is.', labels: ['bug'], assignees: ['lee'] });
  expect(made).toMatchObject({
    number: 1,
    state: 'open',
    user: { login: 'kim' },
    author_association: 'MEMBER',
  });
  await api(['-X', 'PATCH', path('/1')], { title: 'Slower', body: null });
  await api([path('/1/labels')], { labels: ['Bug', 'svc:run'] });
  await api(['-X', 'DELETE', path('/1/labels/bug')]);
  await api([path('/1/comments')], { body: 'On it.' });
  await api(['-X', 'DELETE', path('/1/assignees')], { assignees: ['lee'] });
  const closed = await api(['-X', 'PATCH', path('/1')], { state: 'closed', state_reason: 'not_planned' });
  expect(closed).toMatchObject({ state: 'closed', state_reason: 'not_planned', closed_by: { login: 'kim' } });
  await api(['-X', 'PATCH', path('/1')], { state: 'open' });
  await expect
    .poll(() => names().toSorted())
    .toEqual(
      [
        'issues opened',
        'issues labeled',
        'issues assigned',
        'issues edited',
        'issues labeled',
        'issues unlabeled',
        'issue_comment created',
        'issues unassigned',
        'issues closed',
        'issues reopened',
      ].toSorted(),
    );
  expect(relay.requests[0]?.headers['x-hub-signature-256']).toMatch(/^sha256=[0-9a-f]{64}$/);
  const edited = heard().find(({ payload }) => payload['action'] === 'edited');
  expect(edited?.payload['changes']).toEqual({ title: { from: 'Slow' }, body: { from: 'It is.' } });
  const events = (await api([path('/1/events')])) as unknown as JsonObject[];
  expect(events.map(({ event }) => event)).toContain('labeled');
});

test('deliveries have every field of the published examples', async () => {
  const { codehost, issues, heard, config } = await setup();
  codehost.cloud.addRepo('acme/api');
  codehost.cloud.addHook('acme/api', { events: ['issues'], config });
  await issues.open(WEB, { title: 'One', labels: ['bug'], assignees: ['lee', 'mo'] });
  await issues.open(WEB, { title: 'Two', assignees: ['lee'] });
  await issues.update(WEB, 1, { title: 'Three' });
  await issues.unlabel(WEB, 1, 'bug');
  await issues.unassign(WEB, 1, 'mo');
  await issues.close(WEB, 1);
  await issues.reopen(WEB, 1);
  await issues.comment(WEB, 1, 'Why?', 'stranger');
  await issues.addSubIssue(WEB, 1, 2);
  await issues.block(WEB, 1, 2);
  await issues.transfer(WEB, 1, 'acme/api');
  await issues.remove(WEB, 2);
  const published = publishedExamples().filter(({ type, payload }) =>
    heard().some(({ event, payload: ours }) => event === type && ours['action'] === payload['action']),
  );
  expect(new Set(published.map(({ type, payload }) => `${type} ${String(payload['action'])}`)).size).toBe(10);
  // What the vendor sends only for some: an app, a milestone, a pull request. Both sides of a transfer have all of it.
  const ignored = ['installation', 'milestone.', 'pull_request', 'changes.'];
  for (const { type, payload } of published) {
    const ours = heard().filter(
      ({ event, payload: one }) => event === type && one['action'] === payload['action'],
    );
    const known = new Set(ours.flatMap((one) => pathsOf(one.payload)));
    const missing = pathsOf(payload).filter(
      (name) => !known.has(name) && !ignored.some((part) => name.includes(part)),
    );
    expect({ type, action: payload['action'], missing }).toEqual({
      type,
      action: payload['action'],
      missing: [],
    });
  }
});

/** The names of all values; members of lists and of empty objects count as one. */
function pathsOf(value: unknown, at = ''): string[] {
  if (Array.isArray(value)) return [at];
  if (typeof value !== 'object' || value === null) return [at];
  return Object.entries(value).flatMap(([name, one]) => [
    `${at}${name}`,
    ...(typeof one === 'object' && one !== null ? pathsOf(one, `${at}${name}.`) : []),
  ]);
}

test('relations have both sides, and the vendor’s names', async () => {
  const { codehost, issues, api, heard } = await setup();
  for (const title of ['Parent', 'Child', 'Blocker']) codehost.cloud.addIssue(WEB, { title });
  const [, child, blocker] = codehost.cloud.repoOf(WEB).issues;
  await api([path('/1/sub_issues')], { sub_issue_id: child?.id });
  await api([path('/1/dependencies/blocked_by')], { issue_id: blocker?.id });
  expect(await api([path('/1/sub_issues')])).toMatchObject([{ number: 2 }]);
  expect(await api([path('/2/parent')])).toMatchObject({ number: 1, sub_issues_summary: { total: 1 } });
  expect(await api([path('/1/dependencies/blocked_by')])).toMatchObject([{ number: 3 }]);
  expect(await api([path('/1')])).toMatchObject({
    issue_dependencies_summary: { blocked_by: 1, total_blocked_by: 1, blocking: 0 },
  });
  await issues.block(WEB, 1, 3, false);
  expect(await api([path('/1/dependencies/blocked_by')])).toEqual([]);
  const keys = (action: string): string[] =>
    Object.keys(heard().find(({ payload }) => payload['action'] === action)?.payload ?? {}).toSorted();
  const always = ['action', 'organization', 'repository', 'sender'];
  const both = ['blocked_issue', 'blocked_issue_id', 'blocking_issue', 'blocking_issue_id'];
  const nested = ['parent_issue', 'parent_issue_id', 'sub_issue', 'sub_issue_id'];
  await expect
    .poll(() => keys('blocking_added'))
    .toEqual([...always, ...both, 'blocked_issue_repo'].toSorted());
  expect(keys('blocked_by_added')).toEqual([...always, ...both, 'blocking_issue_repo'].toSorted());
  expect(keys('blocked_by_removed')).toEqual(keys('blocked_by_added'));
  expect(keys('sub_issue_added')).toEqual([...always, ...nested, 'sub_issue_repo'].toSorted());
  expect(keys('parent_issue_added')).toEqual([...always, ...nested, 'parent_issue_repo'].toSorted());
});

test('the list has pull requests too, in pages, by time of change, and not modified for the same tag', async () => {
  const { codehost, api } = await setup();
  const at = (second: number): { updatedAt: number } => ({ updatedAt: Date.UTC(2026, 0, 1, 0, 0, second) });
  for (let number = 1; number <= 3; number += 1)
    codehost.cloud.addIssue(WEB, { title: `${number}`, ...at(10 - number) });
  codehost.cloud.addPullRequest(WEB, { number: 4, state: 'MERGED', ...at(20) });
  expect(codehost.cloud.addIssue(WEB, { title: '5', ...at(1) }).number).toBe(5);
  const list = `${path('')}?state=all&sort=updated&direction=asc&per_page=2&since=2026-01-01T00:00:05Z`;
  const { stdout } = await runGh(codehost, [
    'api',
    '--paginate',
    list,
    '--jq',
    '.[] | [.number, has("pull_request")]',
  ]);
  expect(stdout.trim().split('\n')).toEqual(['[3,false]', '[2,false]', '[1,false]', '[4,true]']);
  expect(codehost.callCounts()).toEqual({ 'GET issues': 2 });

  const first = await runGh(codehost, ['api', '-i', path('')]);
  const [, tag = ''] = /^Etag: (.*)$/im.exec(first.stdout) ?? [];
  const left = /X-Ratelimit-Remaining: (\d+)/.exec(first.stdout)?.[1];
  const again = (): Promise<{ stdout: string }> =>
    runGh(codehost, ['api', '-i', path(''), '-H', `If-None-Match: ${tag.trim()}`]);
  const same = (await again()).stdout;
  expect(same).toContain('304 Not Modified');
  expect(same).toContain(`X-Ratelimit-Remaining: ${left}`);
  await api(['-X', 'PATCH', path('/1')], { title: 'changed' });
  expect((await again()).stdout).toContain('200 OK');
});

test('labels of a repository, and what a person may do', async () => {
  const { codehost, api } = await setup();
  await api([`repos/${WEB}/labels`], {
    name: 'In Progress',
    color: 'ff0000',
    description: 'Someone works on it',
  });
  await expect(api([`repos/${WEB}/labels`], { name: 'in progress' })).rejects.toThrow('already_exists');
  expect(await api([`repos/${WEB}/labels/in%20progress`])).toMatchObject({
    name: 'In Progress',
    color: 'ff0000',
  });
  codehost.cloud.addIssue(WEB, { title: 'One', labels: ['In Progress'] });
  await api(['-X', 'DELETE', `repos/${WEB}/labels/In%20Progress`]);
  expect(await api([`repos/${WEB}/labels`])).toEqual([]);
  expect(await api([path('/1/labels')])).toEqual([]);
  codehost.cloud.addPerson(WEB, 'lee', { permission: 'triage' });
  const role = async (login: string) =>
    (await api([`repos/${WEB}/collaborators/${login}/permission`]))?.['role_name'];
  expect([await role('lee'), await role('kim'), await role('mallory')]).toEqual(['triage', 'admin', 'read']);
});

test('a deleted issue is gone, a transferred one is found, and a wrong change is rejected', async () => {
  const { codehost, issues, api } = await setup();
  codehost.cloud.addRepo('acme/api');
  await issues.open(WEB, { title: 'One' }, 'lee');
  await issues.open(WEB, { title: 'Two' });
  await issues.remove(WEB, 2);
  await issues.transfer(WEB, 1, 'acme/api');
  await expect(api([path('/2')])).rejects.toThrow('410');
  await expect(api([path('/9')])).rejects.toThrow('404');
  expect(await api([path('/1')])).toMatchObject({ title: 'One', user: { login: 'lee' } });
  expect((await issues.open(WEB, { title: 'Three' })).number).toBe(3);
  await expect(api(['-X', 'PATCH', path('/3')], { state: 'done' })).rejects.toThrow('422');
  await expect(api(['-X', 'DELETE', path('/3/labels/none')])).rejects.toThrow('Label does not exist');
});

test('items of projects are for hooks of the organization only', async () => {
  const { codehost, issues, names, api } = await setup();
  const relay = await startRecordingServer((_request, response) => void response.end('ok'));
  codehost.cloud.addOrganizationHook('acme', {
    events: ['projects_v2_item', 'issues'],
    config: { url: relay.url, content_type: 'json' },
  });
  const project = codehost.cloud.addProject('acme');
  await issues.open(WEB, { title: 'One' });
  await issues.setStatus(project, WEB, 1, 'In Progress', 'lee');
  expect(names()).toEqual(['issues opened']);
  expect(relay.requests.map(({ headers }) => headers['x-github-event'])).toEqual([
    'issues',
    'projects_v2_item',
    'projects_v2_item',
  ]);
  const payload = JSON.parse(relay.requests[2]?.body ?? '') as JsonObject;
  expect(payload).toMatchObject({
    action: 'edited',
    sender: { login: 'lee' },
    changes: { field_value: { field_name: 'Status', from: null, to: { name: 'In Progress' } } },
  });
  const example = publishedExamples().find(
    (one) => one.type === 'projects_v2_item' && one.payload['action'] === 'edited',
  );
  const known = new Set(pathsOf(payload));
  expect(pathsOf(example?.payload).filter((name) => !known.has(name))).toEqual([]);
  const hook = { events: ['projects_v2_item'], config: { url: relay.url } };
  await expect(api([`repos/${WEB}/hooks`], hook)).rejects.toThrow('not for repositories');
});
