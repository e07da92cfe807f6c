// A deployment as the API shows it.
import { z } from 'zod';
import { key, last } from '../../kernel/board/entity-fields.ts';
import { Seq, Time } from '../../kernel/http/api-route.ts';
import { DeploymentState } from './api.ts';

export type Deployment = z.infer<typeof Deployment>;

export const Deployment = z
  .object({
    key,
    repo: z.string(),
    id: z.int(),
    sha: z.string(),
    ref: z.string().nullable(),
    task: z.string().nullable().describe('What the deployer did; null: not reported'),
    environment: z.string().describe('The environment of its newest state'),
    production: z.boolean().nullable(),
    state: DeploymentState,
    stateAt: Time,
    states: z.array(
      z.object({ state: DeploymentState, environment: z.string(), at: Time, seq: Seq, via: z.string() }),
    ),
    environmentUrl: z.string().nullable(),
    logUrl: z.string().nullable(),
    description: z.string().nullable(),
    ...last,
  })
  .meta({ id: 'Deployment' });
