import { z } from 'zod';
import { field, kinds, repoSlug, wholeNumber } from '../field.ts';

const layers = ['project'] as const;

const DeployOfRepo = z.object({
  timeoutSec: field(wholeNumber(1), {
    layers,
    description: 'Hard timeout of the deploy phase in seconds, counted from the merge',
    default: 1800,
  }),
  productionEnvironment: field(kinds.text, {
    layers,
    description: 'Deployment environment that gates done',
    default: 'production',
  }),
  stagingEnvironment: field(kinds.text, {
    layers,
    description: 'Deployment environment shown on the dashboard, not gating',
    default: 'staging',
  }),
  skipDeployVerification: field(kinds.flag, {
    layers,
    description: 'True: a merged pull request is done at once. False: the deploy lifecycle applies',
    default: true,
  }),
  acceptDescendants: field(kinds.flag, {
    layers,
    description: 'Whether a deployment of a commit that contains the merge counts',
    default: true,
  }),
});

/** Keyed by owner/repo. A repository without an entry skips deploy verification. */
export const Deploy = z.record(repoSlug, DeployOfRepo).prefault({});
