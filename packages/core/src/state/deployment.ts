// A deployment as the log tells it: each state once, in the order in which it was told.
import type { DeploymentState } from '../deploy/deploy-worker.ts';

export type Deployment = {
  repo: string;
  id: number;
  sha: string;
  ref: string | null;
  environment: string;
  /** Whether its deployer calls the environment one of production; null when that was not told. */
  production: boolean | null;
  state: DeploymentState;
  /** When the newest state was told to be so, and not when it first was. */
  stateAt: string;
  /** Each with the line that told it first. */
  states: { state: DeploymentState; at: string; seq: number; via: string }[];
  environmentUrl: string | null;
  logUrl: string | null;
  description: string | null;
  lastSeq: number;
  lastAt: string;
};
