// Keys of the programs and services that agents work with.
import { z } from 'zod';
import { field, inProject, inSecrets, kinds, optionalField, orNull } from '../../kernel/config/field.ts';

const Thoughts = z
  .object({
    user: field(orNull(kinds.text), {
      layers: inProject,
      description: 'User name in the context store',
      default: null,
    }),
    directory: optionalField(kinds.text, {
      layers: inProject,
      description: 'Context directory, ${DIRECTORY} in worktree setup (default: the repository name)',
    }),
    profile: optionalField(kinds.text, {
      layers: inProject,
      description: 'Context profile, ${PROFILE} in worktree setup (default: detected)',
    }),
  })
  .prefault({});

// Credentials of the optional integrations. All live in the secrets file.

const ErrorTracking = z
  .object({
    org: optionalField(kinds.text, {
      layers: inSecrets,
      description: 'Error tracker organization. Accepted, not used yet',
    }),
    project: optionalField(kinds.text, {
      layers: inSecrets,
      description: 'Error tracker project. Accepted, not used yet',
    }),
    authToken: optionalField(kinds.text, {
      layers: inSecrets,
      description: 'Error tracker token. Accepted, not used yet',
      secret: true,
    }),
  })
  .prefault({});

const Analytics = z
  .object({
    apiKey: optionalField(kinds.text, {
      layers: inSecrets,
      description: 'Analytics API key. Accepted, not used yet',
      secret: true,
    }),
    projectId: optionalField(kinds.text, {
      layers: inSecrets,
      description: 'Analytics project id. Accepted, not used yet',
    }),
  })
  .prefault({});

const Search = z
  .object({
    apiKey: optionalField(kinds.text, {
      layers: inSecrets,
      description: 'External search API key. Accepted, not used yet',
      secret: true,
    }),
  })
  .prefault({});

export const contextKeys = {
  thoughts: Thoughts,
  errorTracking: ErrorTracking,
  analytics: Analytics,
  search: Search,
};
