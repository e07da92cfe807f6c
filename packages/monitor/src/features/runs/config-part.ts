// What the configuration says about runs beyond single values: agents without a program, and what in the tracker starts one.
import type { ConfigPart } from '../../kernel/config/configuration.ts';
import { type ConfigProblem, placeOf } from '../../kernel/config/problems.ts';
import type { ResolvedValue } from '../../kernel/config/resolved-value.ts';
import { builtInAgents } from '../agents/choice.ts';
import { dispatchOf, unservedDispatch } from './dispatch.ts';

export const runsConfig: ConfigPart = {
  check: agentsHaveCommands,
  checkProjects: (projects, globalFile) =>
    unservedDispatch(projects.map(({ usable }) => usable)).map((repo) => unserved(repo, globalFile)),
  applied: {
    of({ config, values }) {
      const dispatch = dispatchOf(config, values);
      return dispatch === undefined ? {} : { dispatch };
    },
  },
};

function agentsHaveCommands(values: readonly ResolvedValue[]): ConfigProblem[] {
  const ofAgents = values.filter(({ path }) => path[1] === 'orchestration' && path[2] === 'agents');
  const complete = ofAgents.filter(({ path, value }) => path.at(-1) === 'command' && value !== undefined);
  const names = new Set([...builtInAgents, ...complete.map(({ path }) => path[3] ?? '')]);
  return ofAgents
    .filter(({ path, source }) => source.kind === 'file' && !names.has(path[3] ?? ''))
    .map((value): ConfigProblem => {
      const message = 'is set, but the agent has no command.';
      return { ...placeOf(value), severity: 'error', code: 'incomplete', message };
    });
}

function unserved(repo: string, file: string): ConfigProblem {
  return {
    severity: 'ignored',
    code: 'incomplete',
    file,
    key: 'svc.orchestration.dispatch',
    message: `has an entry for ${repo}, but no served project has exactly this svc.repository.`,
    remedy: 'Remove the entry, or add the project’s folder to svc.projects.',
  };
}
