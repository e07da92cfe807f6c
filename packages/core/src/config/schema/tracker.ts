import { z } from 'zod';
import { field, kinds, optionalField, orNull } from '../field.ts';

const project = ['project'] as const;
const stateName = (description: string, name: string) =>
  field(orNull(kinds.text), { layers: project, description, default: name });

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
      layers: project,
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
        layers: project,
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
