// The model itself, on small worlds that a person can judge.
import { describe, expect, test } from 'vitest';
import { createModel } from './model.ts';
import type { Commit, Fact, FactContent, PolicyEntry, Step } from './steps.ts';

const repository = 'acme/web';
let facts = 0;
const fact = (content: FactContent): Fact => ({ fact: (facts += 1), ...content });
const commit = (id: string, parents: string[], more: Partial<Commit> = {}): Step =>
  fact({ do: 'commit', repository, id, parents, ...more });
const project = (deploy: Record<string, PolicyEntry> | null, name = 'p1'): Step[] => [
  { do: 'file', project: name, folder: '.svc', file: { kind: 'valid', deploy } },
  { do: 'list', project: name, isListed: true },
];
const strict = project({ [repository]: { skip: false } });
const worker: Step = { do: 'worker', run: 'run-1', ticket: 'ABC-1', repository, branch: 'ABC-1-work' };
const opened = (more: Partial<Extract<FactContent, { do: 'open' }>> = {}): Step =>
  fact({
    do: 'open',
    repository,
    number: 1,
    head: 'c2',
    branch: 'ABC-1-work',
    base: 'main',
    from: 'here',
    ticket: null,
    ...more,
  });
const merged = fact({ do: 'merge', repository, number: 1, head: 'c2', commit: 'm' });
const history = [commit('c1', []), commit('c2', ['c1']), commit('m', ['c1', 'c2'])];
const merge: Step[] = [...history, opened(), merged, { do: 'deliver', fact: merged.fact }];
const deployed = (of: string, environment = 'production', task = 'deploy'): Step[] => [
  fact({ do: 'deployment', repository, id: 7, commit: of, environment, task }),
  fact({ do: 'status', repository, deployment: 7, state: 'success', environment }),
];
const relaxed = project({ [repository]: { skip: true } });

function verdict(steps: readonly Step[]): 'proved' | 'open' | 'not proved' {
  const model = createModel();
  for (const step of [...steps, { do: 'poll' } as const]) model.apply(step);
  const isDone = model.workers()[0]?.isDone;
  if (isDone?.isCertain === true) return 'proved';
  return isDone?.isPossible === true ? 'open' : 'not proved';
}

describe('a merge is', () => {
  test.each<[what: string, expected: string, steps: Step[]]>([
    ['proved where no project requires proof', 'proved', [worker, ...merge]],
    ['not proved where one does', 'not proved', [...strict, worker, ...merge]],
    ['proved by its deployment', 'proved', [...strict, worker, ...merge, ...deployed('m')]],
    [
      'proved in the environment in capitals',
      'proved',
      [...strict, worker, ...merge, ...deployed('m', 'PRODUCTION')],
    ],
    ['not proved in staging', 'not proved', [...strict, worker, ...merge, ...deployed('m', 'staging')]],
    [
      'not proved by a rollback',
      'not proved',
      [...strict, worker, ...merge, ...deployed('m', 'production', 'rollback')],
    ],
    ['not proved by its head', 'not proved', [...strict, worker, ...merge, ...deployed('c2')]],
    [
      'proved by a later commit',
      'proved',
      [...strict, worker, ...merge, commit('n', ['m']), ...deployed('n')],
    ],
    [
      'not proved by the revert of the commit that it squashed',
      'not proved',
      [
        ...strict,
        worker,
        commit('c1', []),
        commit('c2', ['c1']),
        commit('m', ['c1'], { squashes: 'c2' }),
        opened(),
        merged,
        commit('r', ['m'], { reverts: 'c2' }),
        ...deployed('r'),
      ],
    ],
    [
      'not proved by its revert',
      'not proved',
      [...strict, worker, ...merge, commit('r', ['m'], { reverts: 'm' }), ...deployed('r')],
    ],
    [
      'not proved by a commit that takes it out without a word',
      'not proved',
      [...strict, worker, ...merge, commit('r', ['m'], { reverts: 'm', isSilent: true }), ...deployed('r')],
    ],
    [
      'proved when another change of the same file was taken out without a word',
      'proved',
      [
        ...strict,
        worker,
        ...history.map((step) => ({ ...step, isShared: true }) as Step),
        opened(),
        merged,
        commit('x', ['m'], { isShared: true }),
        commit('r', ['x'], { reverts: 'x', isSilent: true }),
        ...deployed('r'),
      ],
    ],
    [
      'not proved by a merge that discards it',
      'not proved',
      [...strict, worker, ...merge, commit('o', ['c1', 'm'], { isOurs: true }), ...deployed('o')],
    ],
    [
      'left open when it was brought back',
      'open',
      [
        ...strict,
        worker,
        ...merge,
        commit('r', ['m'], { reverts: 'm' }),
        commit('s', ['r'], { reverts: 'r' }),
        ...deployed('s'),
      ],
    ],
    [
      'allowed to be done when a person accepts it',
      'open',
      [...strict, worker, ...merge, { do: 'accept', run: 'run-1', ticket: 'ABC-1' }],
    ],
    ['not the worker’s if it ended before', 'not proved', [...merge, worker]],
    [
      'not the worker’s if a deleted fork has the branch',
      'not proved',
      [worker, ...history, opened({ from: 'deleted-fork' }), merged],
    ],
    [
      'not the worker’s because its file names it',
      'not proved',
      [
        worker,
        ...history,
        opened({ branch: 'other' }),
        merged,
        { do: 'claim', run: 'run-1', ticket: 'ABC-1', status: 'done', pullRequest: 1 },
      ],
    ],
  ])('%s', (_, expected, steps) => {
    expect(verdict(steps)).toBe(expected);
  });

  test('proved when it went into a pull request that was squashed and deployed', () => {
    const stack = [
      commit('c1', []),
      commit('b', ['c1']),
      opened({ number: 2, head: 'b', branch: 'below' }),
      commit('c2', ['b']),
      opened({ base: 'below' }),
      commit('m', ['b', 'c2']),
      merged,
      commit('s', ['c1'], { squashes: 'm' }),
      fact({ do: 'merge', repository, number: 2, head: 'm', commit: 's' }),
    ];
    expect(verdict([...strict, worker, ...stack])).toBe('not proved');
    expect(verdict([...strict, worker, ...stack, ...deployed('s')])).toBe('proved');
  });
});

describe('a repository requires proof', () => {
  const broken: Step[] = [{ do: 'file', project: 'p1', folder: '.svc', file: { kind: 'cut' } }];
  const gone: Step[] = [{ do: 'file', project: 'p1', folder: '.svc', file: null }];
  test.each<[what: string, expected: string, before: Step[]]>([
    ['when its file is damaged later', 'not proved', broken],
    ['when its file is gone', 'not proved', gone],
    ['when another branch without the block is checked out', 'not proved', project(null)],
    ['when its project is no longer listed', 'not proved', [{ do: 'list', project: 'p1', isListed: false }]],
    ['when the list is lost', 'not proved', [{ do: 'global', file: 'gone' }]],
    ['when its disk is gone', 'not proved', [{ do: 'mount', project: 'p1', isThere: false }]],
    ['when another clone says otherwise', 'not proved', project({ [repository]: { skip: true } }, 'p2')],
    ['until its own file says otherwise', 'proved', relaxed],
  ])('%s', (_, expected, changes) => {
    expect(verdict([...strict, worker, ...changes, ...merge])).toBe(expected);
    expect(verdict([...strict, worker, ...merge, ...changes])).toBe('not proved');
  });

  test('until a person relaxes it, for later merges only', () => {
    const relax: Step = { do: 'relax', repository };
    expect(verdict([...strict, worker, ...project(null), { do: 'restart' }, relax, ...merge])).toBe('proved');
    expect(verdict([...strict, worker, ...project(null), ...merge, relax])).toBe('not proved');
  });

  test('perhaps, while a project that could say so cannot be read', () => {
    const unread: Step[] = [{ do: 'list', project: 'p1', isListed: true }];
    expect(verdict([...unread, worker, ...merge])).toBe('not proved');
    const names = (skip: boolean): Step[] => project({ 'acme/api': { skip } });
    expect(verdict([...unread, worker, ...merge, ...names(true)])).toBe('proved');
    // Work in a repository that no project names is as strict as the project of its ticket.
    expect(verdict([...unread, worker, ...merge, ...names(false)])).toBe('not proved');
    expect(verdict([...unread, worker, ...merge, ...strict])).toBe('not proved');
  });
});
