// Credentials of the optional integrations. All live in the secrets file.
import { z } from 'zod';
import { kinds, optionalField } from '../field.ts';

const layers = ['secrets'] as const;

export const ErrorTracking = z
  .object({
    org: optionalField(kinds.text, { layers, description: 'Error tracker organization' }),
    project: optionalField(kinds.text, { layers, description: 'Error tracker project' }),
    authToken: optionalField(kinds.text, { layers, description: 'Error tracker token', secret: true }),
  })
  .prefault({});

export const Analytics = z
  .object({
    apiKey: optionalField(kinds.text, { layers, description: 'Analytics API key', secret: true }),
    projectId: optionalField(kinds.text, { layers, description: 'Analytics project id' }),
  })
  .prefault({});

export const Search = z
  .object({
    apiKey: optionalField(kinds.text, { layers, description: 'External search API key', secret: true }),
  })
  .prefault({});
