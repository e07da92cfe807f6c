import type { Config } from '../../config.ts';
import { resolveConfig } from '../../configure.ts';
import { TOKEN } from './client-of.ts';

/** The configuration of a project with a tracker: the content of its own file, and the token of its secrets file. */
export function projectConfig(
  tracker: Record<string, unknown>,
  { token = TOKEN, ...more }: { token?: string | null; repository?: { org: string; name: string } } = {},
): Config {
  const { config, problems } = resolveConfig(
    [
      file('project', { tracker, ...more }),
      file('secrets', {
        tracker: token === null ? {} : { apiToken: token, teamKey: tracker['teamKey'] ?? 'ABC' },
      }),
    ],
    {},
  );
  if (config === undefined) throw new Error(JSON.stringify(problems));
  return config;
}

function file(layer: 'project' | 'secrets', svc: object) {
  return {
    path: `/conf/${layer}.json`,
    layers: [layer],
    reads: [layer],
    data: { svc },
    lineOf: () => 1,
  };
}
