// The states of a deployment.
import { z } from 'zod';
import { deploymentStates } from '../codehost/topics.ts';

export type DeploymentState = z.infer<typeof DeploymentState>;
export const DeploymentState = z.enum(['created', ...deploymentStates]);
