import { githubProjectIn } from '@svc/contract/repo-name';
import { describe, expect, test } from 'vitest';
import { resolveConfig } from '../configure.ts';
import { type GithubMove, githubMove, githubStateOf, githubStates, type StateMap } from './github-states.ts';

const defaults = resolveConfig([], {}).usable.svc.tracker.stateMap;
/** Two phases with one state, other capitals, no canceled state. */
const unusual: StateMap = { ...defaults, todo: 'backlog', inReview: 'PR: review', canceled: null };
const stateMaps = [defaults, unusual, { ...defaults, done: 'Shipped', backlog: null }];
const labelSets = [[], ['bug'], ['in progress'], ['bug', 'Todo', 'In Progress', 'In Review'], ['PR: review']];

type Issue = { state: 'open' | 'closed'; stateReason: string | null; labels: string[] };

/** What the provider does at the code host. */
function moved(issue: Issue, { close, label }: GithubMove, stateLabels: readonly string[]): Issue {
  const kept = issue.labels.filter((one) => !stateLabels.includes(one));
  return {
    state: close === undefined ? 'open' : 'closed',
    stateReason: close ?? null,
    labels: close === undefined ? [...kept, ...(label === undefined ? [] : [label])] : issue.labels,
  };
}

describe.each(stateMaps.map((stateMap, index) => [index, stateMap] as const))(
  'state map %s',
  (_, stateMap) => {
    test.each(labelSets)('a repository with the labels %j: what is set is what is read', (...labels) => {
      const states = githubStates(stateMap, { labels });
      const labelsOfStates = states.flatMap(({ id }) => githubMove(id)?.label ?? []);
      const start: Issue = { state: 'open', stateReason: null, labels: [...labelsOfStates, 'mine'] };
      for (const from of states) {
        for (const to of states) {
          const [one, two] = [githubMove(from.id), githubMove(to.id)];
          if (one === undefined || two === undefined) throw new Error('an id that is none of ours');
          const issue = moved(moved(start, one, labelsOfStates), two, labelsOfStates);
          const read = githubStateOf(issue, { stateMap, inProject: false });
          expect(read?.id).toBe(to.id);
          expect(issue.labels).toContain('mine');
          if (to.id !== 'open') expect(read).toMatchObject({ name: to.name, type: to.type });
        }
      }
    });

    test('each phase with a state has one, and only what ends a ticket closes it', () => {
      const status = {
        projectId: 'PVT_1',
        fieldId: 'PVTSSF_2',
        options: ['Todo', 'In progress', 'DONE', 'Later'].map((name, index) => ({ id: `f${index}`, name })),
      };
      for (const found of [{ labels: ['Todo'] }, { status }]) {
        for (const { id, type, name } of githubStates(stateMap, found)) {
          const move = githubMove(id);
          const closes = { completed: 'completed', canceled: 'not_planned' }[type];
          expect(move, name).toBeDefined();
          expect(move?.close, name).toBe(closes);
        }
      }
    });
  },
);

test('the options of a project are its states; done closes the issue, and so does what the project lacks', () => {
  const options = ['Todo', 'In Progress', 'Done'].map((name, index) => ({ id: `o${index}`, name }));
  expect(githubStates(defaults, { status: { projectId: 'P', fieldId: 'F', options } })).toEqual([
    { id: 'status:P/F/o0', name: 'Todo', type: 'unstarted', position: 0 },
    { id: 'status:P/F/o1', name: 'In Progress', type: 'started', position: 1 },
    { id: 'status:P/F/o2:completed', name: 'Done', type: 'completed', position: 2 },
    { id: 'closed:not_planned', name: 'Canceled', type: 'canceled', position: 3 },
  ]);
});

test('an open issue of a project shows no state by itself, a closed one does', () => {
  const rule = { stateMap: defaults, inProject: true };
  expect(githubStateOf({ state: 'open', stateReason: null, labels: ['Todo'] }, rule)).toBeUndefined();
  expect(githubStateOf({ state: 'closed', stateReason: 'duplicate', labels: [] }, rule)).toMatchObject({
    name: 'Canceled',
    type: 'canceled',
  });
});

test.each(['8f2b4c1e-uuid', '', 'closed:deleted', 'label:', 'status:P/F', 'status:P/F/../x', 'open '])(
  'an id that is none of ours: %j',
  (id) => {
    expect(githubMove(id)).toBeUndefined();
  },
);

test.each([
  ['acme/3', { owner: 'acme', number: 3 }],
  ['https://codehost.example/orgs/acme/projects/3', { owner: 'acme', number: 3 }],
  ['https://codehost.example/users/kim/projects/12/views/1?pane=info', { owner: 'kim', number: 12 }],
  ['acme/web', undefined],
  ['https://codehost.example/acme/web/projects/3', undefined],
  ['acme/3"}', undefined],
])('a project: %s', (text, project) => {
  expect(githubProjectIn(text)).toEqual(project);
});
