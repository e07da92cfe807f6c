// Keys of `svc.feedback`.
import { z } from 'zod';
import { field, inGlobal, inProject, kinds } from '../../kernel/config/field.ts';

const UPSTREAM_REPO = 'svc-dev/svc';

const Feedback = z
  .object({
    autoFile: field(kinds.flag, {
      layers: inProject,
      description: 'File findings at the end of a run without asking',
      default: false,
    }),
    codehostRepo: field(kinds.repo, {
      layers: inProject,
      description: 'Repository for findings that the tracker cannot take',
      default: UPSTREAM_REPO,
    }),
    consentFor: field(kinds.list, {
      layers: inGlobal,
      description: 'Trackers and repositories where you allowed svc to file findings without asking',
      default: [],
    }),
    labels: field(kinds.list, {
      layers: inProject,
      description: 'Labels for each filed finding; the skill name is added',
      default: ['auto-submitted'],
    }),
  })
  .prefault({});

export const findingsKeys = { feedback: Feedback };
