// Keys of `svc.deploy`.
import { z } from 'zod';
import { field, inProject, kinds, repoSlug, wholeNumber } from '../../kernel/config/field.ts';

const DeployOfRepo = z.object({
  timeoutSec: field(wholeNumber(1), {
    layers: inProject,
    description: 'Timeout of the deploy phase, in seconds after the merge',
    default: 1800,
  }),
  productionEnvironment: field(kinds.text, {
    layers: inProject,
    description: 'Environment that a merge must be deployed to before its ticket is done',
    default: 'production',
  }),
  stagingEnvironment: field(kinds.text, {
    layers: inProject,
    description: 'Environment shown on the dashboard; does not affect when a ticket is done',
    default: 'staging',
  }),
  skipDeployVerification: field(kinds.flag, {
    layers: inProject,
    description: 'Count a merged pull request as done at once; when false, wait for its deployment',
    default: true,
  }),
  acceptDescendants: field(kinds.flag, {
    layers: inProject,
    description: 'Also accept a deployment of a later commit that contains the merge',
    default: true,
  }),
});

/** Keyed by owner/repo. A repository without an entry skips deploy verification. */
const Deploy = z.record(repoSlug, DeployOfRepo).prefault({});

export const deployKeys = { deploy: Deploy };
