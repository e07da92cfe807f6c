// `deployment` and `deployment_status`: what tells whether a merged change reached an environment.
import type { DeploymentDetail, DeploymentStatusDetail } from '../log/codehost-details.ts';
import type { EventScope } from '../log/event-line.ts';
import type { CodehostFact } from './codehost-fact.ts';
import { knownDetail } from './only-known.ts';
import { type Fields, flagAt, integerAt, loginAt, objectAt, textAt, timeAt } from './payload-fields.ts';

export function deploymentFact(payload: Fields, action: string): CodehostFact {
  const deployment = objectAt(payload, 'deployment');
  const detail: DeploymentDetail = {
    task: textAt(deployment, 'task'),
    description: textAt(deployment, 'description'),
    creator: loginAt(deployment, 'creator'),
    originalEnvironment: textAt(deployment, 'original_environment'),
    productionEnvironment: flagAt(deployment, 'production_environment'),
    transientEnvironment: flagAt(deployment, 'transient_environment'),
    url: textAt(objectAt(payload, 'workflow_run'), 'html_url'),
  };
  return {
    topic: `codehost.deployment.${action}`,
    scope: deploymentScope(payload, textAt(deployment, 'environment')),
    occurredAt: timeAt(deployment, 'created_at'),
    detail: knownDetail(detail),
  };
}

export function deploymentStatusFact(payload: Fields): CodehostFact {
  const status = objectAt(payload, 'deployment_status');
  const deployment = objectAt(payload, 'deployment');
  const detail: DeploymentStatusDetail = {
    state: textAt(status, 'state'),
    statusId: integerAt(status, 'id'),
    description: textAt(status, 'description'),
    logUrl: textAt(status, 'log_url'),
    environmentUrl: textAt(status, 'environment_url'),
    targetUrl: textAt(status, 'target_url'),
    creator: loginAt(status, 'creator'),
    task: textAt(deployment, 'task'),
    deploymentCreatedAt: timeAt(deployment, 'created_at'),
  };
  return {
    topic: `codehost.deployment_status.${detail.state}`,
    scope: deploymentScope(payload, textAt(status, 'environment') ?? textAt(deployment, 'environment')),
    occurredAt: timeAt(status, 'created_at') ?? timeAt(status, 'updated_at'),
    detail: knownDetail(detail),
  };
}

/** `ref` is as the deployer gave it: a branch, a tag or a commit. Only the workflow run says which branch. */
function deploymentScope(payload: Fields, environment: string | undefined): EventScope {
  const deployment = objectAt(payload, 'deployment');
  return {
    branch: textAt(objectAt(payload, 'workflow_run'), 'head_branch'),
    sha: textAt(deployment, 'sha'),
    ref: textAt(deployment, 'ref'),
    environment,
    deploymentId: integerAt(deployment, 'id'),
  };
}
