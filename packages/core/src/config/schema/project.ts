import { z } from 'zod';
import { field, kinds, optionalField, orNull, repoSlug, wholeNumber } from '../field.ts';

const layers = ['project'] as const;

export const projectKey = optionalField(kinds.key, {
  layers,
  description: 'Links to the secrets file config-{projectKey}.json',
});

export const Repository = z
  .object({
    org: optionalField(kinds.text, { layers, description: 'Code-host organization' }),
    name: optionalField(kinds.text, { layers, description: 'Repository name' }),
  })
  .prefault({});

export const Project = z
  .object({
    ticketPrefix: optionalField(kinds.text, { layers, description: 'Issue-tracker ticket prefix' }),
    name: optionalField(kinds.text, { layers, description: 'Human-readable project name' }),
  })
  .prefault({});

export const Thoughts = z
  .object({
    user: field(orNull(kinds.text), { layers, description: 'Context-store user name', default: null }),
    directory: optionalField(kinds.text, {
      layers,
      description: 'Context directory, ${DIRECTORY} in worktree setup (default: the repository name)',
    }),
    profile: optionalField(kinds.text, {
      layers,
      description: 'Context profile, ${PROFILE} in worktree setup (default: detected)',
    }),
  })
  .prefault({});

export const projects = field(kinds.list, {
  layers: ['global'],
  description: 'Paths of the projects that the daemon of this machine serves',
  default: [],
});

const stateName = (description: string, name: string) =>
  field(orNull(kinds.text), { layers, description, default: name });

/** Workflow phase → tracker state name. Null skips that automatic transition. */
const StateMap = z
  .object({
    backlog: stateName('State of a new ticket', 'Backlog'),
    todo: stateName('State of an acknowledged, unstarted ticket', 'Todo'),
    research: stateName('State set when research-codebase runs', 'In Progress'),
    planning: stateName('State set when create-plan runs', 'In Progress'),
    inProgress: stateName('State set when implement-plan runs', 'In Progress'),
    inReview: stateName('State set when create-pr or describe-pr runs', 'In Review'),
    done: stateName('State set when merge-pr runs', 'Done'),
    canceled: stateName('State set on manual cancellation', 'Canceled'),
  })
  .prefault({});

export const Tracker = z
  .object({
    teamKey: optionalField(kinds.text, {
      layers: ['project', 'secrets'],
      description:
        'Team identifier used in ticket ids; must equal svc.project.ticketPrefix. The secrets file names it beside the token',
    }),
    teamId: field(orNull(kinds.text), {
      layers,
      description: 'Cached team UUID, resolved by resolve-tracker-ids.sh',
      default: null,
    }),
    stateMap: StateMap,
    stateIds: field(
      {
        schema: z.record(z.string(), z.string().min(1)).nullable(),
        expects: 'an object of state name to UUID, or null',
      },
      {
        layers,
        description: 'Cached tracker state UUIDs by display name; without it states are set by name',
        default: null,
      },
    ),
    apiToken: optionalField(kinds.text, {
      layers: ['secrets'],
      description: 'Token for the issue tracker API',
      secret: true,
    }),
    defaultTeam: optionalField(kinds.text, {
      layers: ['secrets'],
      description: 'Team used when a command names none',
    }),
  })
  .prefault({});

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

// Credentials of the optional integrations. All live in the secrets file.

const secrets = ['secrets'] as const;

export const ErrorTracking = z
  .object({
    org: optionalField(kinds.text, { layers: secrets, description: 'Error tracker organization' }),
    project: optionalField(kinds.text, { layers: secrets, description: 'Error tracker project' }),
    authToken: optionalField(kinds.text, {
      layers: secrets,
      description: 'Error tracker token',
      secret: true,
    }),
  })
  .prefault({});

export const Analytics = z
  .object({
    apiKey: optionalField(kinds.text, { layers: secrets, description: 'Analytics API key', secret: true }),
    projectId: optionalField(kinds.text, { layers: secrets, description: 'Analytics project id' }),
  })
  .prefault({});

export const Search = z
  .object({
    apiKey: optionalField(kinds.text, {
      layers: secrets,
      description: 'External search API key',
      secret: true,
    }),
  })
  .prefault({});
