// Keys of the project itself.
import { z } from 'zod';
import { field, inGlobal, inProject, kinds, optionalField } from '../../kernel/config/field.ts';

const projectKey = optionalField(kinds.key, {
  layers: inProject,
  description: 'Short name of the project; its secrets are in config-{projectKey}.json',
});

const Repository = z
  .object({
    org: optionalField(kinds.text, { layers: inProject, description: 'Code-host organization' }),
    name: optionalField(kinds.text, { layers: inProject, description: 'Repository name' }),
  })
  .prefault({});

const Project = z
  .object({
    ticketPrefix: optionalField(kinds.text, {
      layers: inProject,
      description: 'Issue-tracker ticket prefix',
    }),
    name: optionalField(kinds.text, { layers: inProject, description: 'Human-readable project name' }),
  })
  .prefault({});

const projects = field(kinds.list, {
  layers: inGlobal,
  description: 'Paths of the projects that the daemon on this machine serves',
  default: [],
});

export const configurationKeys = { projectKey, repository: Repository, project: Project, projects };
