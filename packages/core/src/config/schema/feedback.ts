import { z } from 'zod';
import { field, kinds } from '../field.ts';

const layers = ['project'] as const;
const UPSTREAM_REPO = 'svc-dev/svc';

export const Feedback = z
  .object({
    autoFile: field(kinds.flag, {
      layers,
      description: 'True: findings are filed at run end without a prompt',
      default: false,
    }),
    codehostRepo: field(kinds.repo, {
      layers,
      description: 'Repository that gets findings when the tracker cannot',
      default: UPSTREAM_REPO,
    }),
    consentFor: field(kinds.list, {
      layers: ['global'],
      description: 'Places that you agreed to: findings are filed there without a prompt',
      default: [],
    }),
    labels: field(kinds.list, {
      layers,
      description: 'Base labels of a filed finding; the skill name is added',
      default: ['auto-submitted'],
    }),
  })
  .prefault({});
