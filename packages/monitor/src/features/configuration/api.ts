// The configuration in use, and the projects that the daemon serves.
import { z } from 'zod';
import { ConfigProblem } from '../../kernel/config/reported-problem.ts';
import { apiRoute, text } from '../../kernel/http/api-route.ts';

export type ProjectEntry = z.infer<typeof Project>;

const Project = z
  .object({
    id: z.string().describe('Its key, or its folder when it has none'),
    key: z.string().nullable(),
    name: z.string().nullable(),
    folder: z.string(),
    repo: z.string().nullable().describe('owner/name'),
    ticketPrefix: z.string().nullable(),
  })
  .meta({ id: 'Project' });

export type ConfigReport = z.infer<typeof ConfigReport>;

export type ConfigEntry = ConfigReport['values'][number];

const ConfigReport = z
  .object({
    project: z.string().nullable().describe('The project; null outside of any project'),
    projects: z.array(Project),
    files: z.object({ project: z.string().nullable(), secrets: z.string(), global: z.string() }),
    values: z.array(
      z.object({
        key: z.string(),
        value: z.unknown().describe('Masked when it is a secret or grants access; null when it is not set'),
        isSet: z.boolean(),
        isSecret: z.boolean(),
        source: z.object({
          kind: z.enum(['environment', 'file', 'last-good', 'default', 'unset']),
          text: z.string(),
          file: z.string().nullable(),
          line: z.int().nullable(),
          variable: z.string().nullable(),
        }),
        default: z.unknown(),
        description: z.string(),
        expects: z.string(),
        env: z.string().nullable().describe('The environment variable that overrides every file'),
        layers: z.array(z.string()).readonly().describe('The files that may set it'),
        lookedAt: z
          .array(
            z.object({
              where: z.string(),
              found: z.boolean(),
              value: z.unknown().describe('Masked like the value'),
              note: z.string().nullable(),
            }),
          )
          .describe('Where it was looked for, the strongest first'),
        deprecated: z.string().nullable(),
        differs: z
          .string()
          .nullable()
          .describe('Why the value in the file is not used; null when it is used'),
      }),
    ),
    machine: z
      .array(
        z.object({
          variable: z.string(),
          value: z.string(),
          fromEnvironment: z.boolean(),
          description: z.string(),
        }),
      )
      .describe('Machine settings, which can only be set by environment variables'),
    problems: z.array(ConfigProblem),
  })
  .meta({ id: 'ConfigReport' });

export const configurationRoutes = {
  listProjects: apiRoute({
    method: 'GET',
    path: '/api/projects',
    tag: 'configuration',
    summary: 'List the projects that the daemon serves',
    query: z.strictObject({}),
    answer: z.object({ projects: z.array(Project) }),
    failures: ['usage', 'file-unusable'],
  }),
  getConfig: apiRoute({
    method: 'GET',
    path: '/api/config',
    tag: 'configuration',
    summary: 'Show every configuration value with its source and default; secrets are masked',
    verbs: ['svc config show', 'svc config explain'],
    query: z.strictObject({
      project: text(4_096)
        .optional()
        .describe('a project id; default: the project that the daemon was started in'),
    }),
    answer: ConfigReport,
    failures: ['usage', 'unknown-project', 'file-unusable'],
  }),
};
