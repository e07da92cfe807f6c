import { githubProjectIn } from '@svc/contract/repo-name';
import { z } from 'zod';
import {
  field,
  inProject,
  inSecrets,
  kinds,
  oneOf,
  optionalField,
  orNull,
} from '../../kernel/config/field.ts';

const stateName = (description: string, name: string) =>
  field(orNull(kinds.text), { layers: inProject, description, default: name });

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

const Tracker = z
  .object({
    provider: optionalField(oneOf(['linear', 'github']), {
      layers: inProject,
      description:
        'Where the tickets are: linear, or github for the issues of the repository (default: by the other settings)',
    }),
    githubProject: optionalField(
      {
        schema: z.string().refine((text) => githubProjectIn(text) !== undefined, 'not a project'),
        expects: 'owner/number or the address of a project',
      },
      {
        layers: inProject,
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
      layers: inProject,
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
        layers: inProject,
        description: 'Cached tracker state ids by display name; when null, states are set by name',
        default: null,
      },
    ),
    apiToken: optionalField(kinds.text, {
      layers: inSecrets,
      description: 'Token for the issue tracker API',
      secret: true,
    }),
    defaultTeam: optionalField(kinds.text, {
      layers: inSecrets,
      description: 'Team for commands that do not name one. Accepted, not used yet',
    }),
  })
  .prefault({});

export const trackerKeys = { tracker: Tracker };
