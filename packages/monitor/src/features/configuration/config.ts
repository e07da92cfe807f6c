// Keys of the project itself.
import { z } from 'zod';
import { field, inGlobal, inProject, kinds, optionalField } from '../../kernel/config/field.ts';

export const projectKey = optionalField(kinds.key, {
  layers: inProject,
  description: 'Short name of the project; its secrets are in config-{projectKey}.json',
});

export const Repository = z
  .object({
    org: optionalField(kinds.text, { layers: inProject, description: 'Code-host organization' }),
    name: optionalField(kinds.text, { layers: inProject, description: 'Repository name' }),
  })
  .prefault({});

export const Project = z
  .object({
    ticketPrefix: optionalField(kinds.text, {
      layers: inProject,
      description: 'Issue-tracker ticket prefix',
    }),
    name: optionalField(kinds.text, { layers: inProject, description: 'Human-readable project name' }),
  })
  .prefault({});

export const projects = field(kinds.list, {
  layers: inGlobal,
  description: 'Paths of the projects that the daemon on this machine serves',
  default: [],
});
