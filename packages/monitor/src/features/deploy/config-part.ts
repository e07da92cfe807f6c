// What the configuration says about deploys beyond single values: the policies that it states, and what disagrees.
import { repoKey } from '@svc/contract/repo-name';
import type { ConfigPart, Guard, StatingProject } from '../../kernel/config/configuration.ts';
import { repoSlug } from '../../kernel/config/field.ts';
import type { ConfigProblem } from '../../kernel/config/problems.ts';
import { isMember } from '../../kernel/config/read-file.ts';
import { isSameEnvironment, type ProjectPolicies, policiesOf } from './policy.ts';

const none: ProjectPolicies = { deploy: {}, relaxes: [], others: 'default' };

const guard: Guard = {
  path: ['svc', 'deploy'],
  isMember: (name) => repoSlug.safeParse(name).success,
  isUnknown: ({ deploy }, repo) => (deploy[repoKey(repo)]?.skipDeployVerification ?? null) === null,
  // What requires proof comes first, then what is unknown.
  laxness({ deploy, others }) {
    if (Object.values(deploy).some(({ skipDeployVerification: skip }) => skip === false)) return 0;
    return others === 'unknown' ? 1 : 2;
  },
};

export const deployConfig: ConfigPart = {
  checkProjects: disagreements,
  applied: {
    of({ config, values, isUnknown, isValid, invalid, refused }) {
      const misnamed = invalid.flatMap((path) =>
        isMember(guard, path) && path[2]?.endsWith('.git')
          ? { repo: path[2], values: refused.filter((entry) => entry.path[2] === path[2]) }
          : [],
      );
      return policiesOf(config, values, isUnknown ? 'unknown' : 'default', { isValid, misnamed });
    },
    none,
    unknown: { ...none, others: 'unknown' },
  },
  guard,
};

/** Projects whose files say different things about one repository; the strictest counts. */
function disagreements(projects: readonly StatingProject[]): ConfigProblem[] {
  const stated = projects.flatMap(({ applied, files }) =>
    Object.entries(applied.deploy).map(([repo, policy]) => ({ repo, policy, file: files.project.file })),
  );
  return [...Map.groupBy(stated, ({ repo }) => repo)].flatMap(([repo, all]): ConfigProblem[] => {
    const strict = all.find(({ policy }) => policy.skipDeployVerification === false);
    const other = all.find(
      ({ policy }) =>
        strict !== undefined &&
        (policy.skipDeployVerification === true ||
          !isSameEnvironment(policy.productionEnvironment, strict.policy.productionEnvironment)),
    );
    if (strict === undefined || other === undefined) return [];
    const message = `disagrees with ${strict.file}, which requires a verified deployment to ${strict.policy.productionEnvironment}. The stricter one counts.`;
    const remedy = 'Make both files say the same about this repository.';
    const key = `svc.deploy.${repo}`;
    return [{ severity: 'error', code: 'given-twice', file: other.file, key, message, remedy }];
  });
}
