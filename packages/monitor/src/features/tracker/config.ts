import { githubProjectIn } from '@svc/contract/repo-name';
import { z } from 'zod';
import {
  field,
  kinds,
  oneOf,
  optionalField,
  orNull,
  repoSlug,
  wholeNumber,
} from '../../kernel/config/field.ts';

const layers = ['project'] as const;

export const projectKey = optionalField(kinds.key, {
  layers,
  description: 'Short name of the project; its secrets are in config-{projectKey}.json',
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
    user: field(orNull(kinds.text), { layers, description: 'User name in the context store', default: null }),
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
  description: 'Paths of the projects that the daemon on this machine serves',
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
    provider: optionalField(oneOf(['linear', 'github']), {
      layers,
      description:
        'Where the tickets are: linear, or github for the issues of the repository (default: by the other settings)',
    }),
    githubProject: optionalField(
      {
        schema: z.string().refine((text) => githubProjectIn(text) !== undefined, 'not a project'),
        expects: 'owner/number or the address of a project',
      },
      {
        layers,
        description:
          'Project of the code host whose Status field holds the states of the tickets (provider github)',
      },
    ),
    teamKey: optionalField(kinds.text, {
      layers: ['project', 'secrets'],
      description:
        'Team key in ticket ids; must equal svc.project.ticketPrefix. A secrets file with a token must name it too',
    }),
    teamId: field(orNull(kinds.text), {
      layers,
      description: 'Team UUID, or owner/repo of the issues; cached by svc resolve-tracker-ids',
      default: null,
    }),
    stateMap: StateMap,
    stateIds: field(
      {
        schema: z.record(z.string(), z.string().min(1)).nullable(),
        expects: 'an object of state name to id, or null',
      },
      {
        layers,
        description: 'Cached tracker state ids by display name; when null, states are set by name',
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
      description: 'Team for commands that do not name one. Accepted, not used yet',
    }),
  })
  .prefault({});

const DeployOfRepo = z.object({
  timeoutSec: field(wholeNumber(1), {
    layers,
    description: 'Timeout of the deploy phase, in seconds after the merge',
    default: 1800,
  }),
  productionEnvironment: field(kinds.text, {
    layers,
    description: 'Environment that a merge must be deployed to before its ticket is done',
    default: 'production',
  }),
  stagingEnvironment: field(kinds.text, {
    layers,
    description: 'Environment shown on the dashboard; does not affect when a ticket is done',
    default: 'staging',
  }),
  skipDeployVerification: field(kinds.flag, {
    layers,
    description: 'Count a merged pull request as done at once; when false, wait for its deployment',
    default: true,
  }),
  acceptDescendants: field(kinds.flag, {
    layers,
    description: 'Also accept a deployment of a later commit that contains the merge',
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
      description: 'File findings at the end of a run without asking',
      default: false,
    }),
    codehostRepo: field(kinds.repo, {
      layers,
      description: 'Repository for findings that the tracker cannot take',
      default: UPSTREAM_REPO,
    }),
    consentFor: field(kinds.list, {
      layers: ['global'],
      description: 'Trackers and repositories where you allowed svc to file findings without asking',
      default: [],
    }),
    labels: field(kinds.list, {
      layers,
      description: 'Labels for each filed finding; the skill name is added',
      default: ['auto-submitted'],
    }),
  })
  .prefault({});

// Credentials of the optional integrations. All live in the secrets file.

const secrets = ['secrets'] as const;

export const ErrorTracking = z
  .object({
    org: optionalField(kinds.text, {
      layers: secrets,
      description: 'Error tracker organization. Accepted, not used yet',
    }),
    project: optionalField(kinds.text, {
      layers: secrets,
      description: 'Error tracker project. Accepted, not used yet',
    }),
    authToken: optionalField(kinds.text, {
      layers: secrets,
      description: 'Error tracker token. Accepted, not used yet',
      secret: true,
    }),
  })
  .prefault({});

export const Analytics = z
  .object({
    apiKey: optionalField(kinds.text, {
      layers: secrets,
      description: 'Analytics API key. Accepted, not used yet',
      secret: true,
    }),
    projectId: optionalField(kinds.text, {
      layers: secrets,
      description: 'Analytics project id. Accepted, not used yet',
    }),
  })
  .prefault({});

export const Search = z
  .object({
    apiKey: optionalField(kinds.text, {
      layers: secrets,
      description: 'External search API key. Accepted, not used yet',
      secret: true,
    }),
  })
  .prefault({});
