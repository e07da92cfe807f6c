// Which deployment environment gates "done", judged by what the repository has deployed so far.
import { z } from 'zod';
import { nearest } from '../nearest.ts';

/** What is read of the code host's list of deployments; newest first. */
const Deployments = z.array(
  z.object({
    environment: z.string().min(1),
    transient_environment: z.boolean().optional(),
    production_environment: z.boolean().optional(),
  }),
);

export type DeployEnvironment = { name: string; production: boolean };

/** The environments of a list of deployments that last, each once, newest first; none when it cannot be read. */
export function environmentsIn(deployments: unknown): DeployEnvironment[] {
  const read = Deployments.safeParse(deployments);
  const found = new Map<string, DeployEnvironment>();
  for (const { environment, ...flags } of read.success ? read.data : []) {
    if (flags.transient_environment === true || isPreview(environment)) continue;
    const production = flags.production_environment === true || found.get(environment)?.production === true;
    found.set(environment, { name: environment, production });
  }
  return [...found.values()];
}

/** The one that people see: by its name, else by what the code host says. Undefined where nobody can tell. */
export function productionAmong(environments: readonly DeployEnvironment[]): string | undefined {
  const byName = ['production', 'prod', 'live'].flatMap((word) =>
    environments.filter(({ name }) => name.toLowerCase() === word),
  );
  const marked = environments.filter(({ production }) => production);
  return (byName[0] ?? marked[0])?.name;
}

/** A slip of the pen, told in words; an environment that is only new is no slip. */
export function environmentSlip(
  name: string,
  environments: readonly DeployEnvironment[],
): string | undefined {
  const names = environments.map((environment) => environment.name);
  const likely = names.includes(name) ? undefined : nearest(name, names);
  if (likely === undefined) return undefined;
  return `The repository has no deployments to ${name}. Is it ${likely}? There are: ${names.join(', ')}.`;
}

function isPreview(name: string): boolean {
  return /\bpreview\b/i.test(name);
}
