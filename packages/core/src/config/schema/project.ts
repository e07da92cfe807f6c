import { z } from 'zod';
import { field, kinds, optionalField, orNull } from '../field.ts';

const layers = ['project'] as const;

export const projectKey = optionalField(kinds.key, {
  layers,
  description: 'Links to the secrets file config-{projectKey}.json',
});

export const Repository = z
  .object({
    org: optionalField(kinds.text, { layers, description: 'Code-host organization' }),
    name: optionalField(kinds.text, { layers, description: 'Repository name' }),
  })
  .prefault({});

export const Project = z
  .object({
    ticketPrefix: optionalField(kinds.text, { layers, description: 'Issue-tracker ticket prefix' }),
    name: optionalField(kinds.text, { layers, description: 'Human-readable project name' }),
  })
  .prefault({});

export const Thoughts = z
  .object({
    user: field(orNull(kinds.text), { layers, description: 'Context-store user name', default: null }),
    directory: optionalField(kinds.text, {
      layers,
      description: 'Context directory, ${DIRECTORY} in worktree setup (default: the repository name)',
    }),
    profile: optionalField(kinds.text, {
      layers,
      description: 'Context profile, ${PROFILE} in worktree setup (default: detected)',
    }),
  })
  .prefault({});

export const projects = field(kinds.list, {
  layers: ['global'],
  description: 'Paths of the projects that the daemon of this machine serves',
  default: [],
});
