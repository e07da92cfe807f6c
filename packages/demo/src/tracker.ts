// The demo's issue tracker: the part of Linear's API that the daemon calls. It has the tickets of the day in the state
// that the newest delivery or the daemon gave them, and never has news, because every change is sent as a delivery.
import type { Day } from './day.ts';
import { type LocalServer, sendJson, startLocalServer } from './local-server.ts';

type State = { id: string; name: string; type: string };
type Issue = {
  id: string;
  identifier: string;
  number: number;
  title: string;
  url: string;
  state: State;
  team: { id: string; key: string; name: string };
  updatedAt: string;
  [field: string]: unknown;
};

type Variables = { id?: string; stateId?: string; numbers?: number[] };

export type ScriptedTracker = Pick<LocalServer, 'close'> & {
  url: string;
  /** Applies a delivered change. */
  saw: (type: string, payload: Readonly<Record<string, unknown>>) => void;
};

export async function startScriptedTracker(day: Pick<Day, 'records' | 'nowIs'>): Promise<ScriptedTracker> {
  const issues = new Map<string, Issue>();
  const states = new Map<string, State>();
  const saw: ScriptedTracker['saw'] = (type, payload) => {
    if (type !== 'Issue') return;
    const issue = payload['data'] as Issue;
    issues.set(issue.identifier, issue);
  };
  for (const record of day.records) {
    if (record.kind !== 'tracker' || record.type !== 'Issue') continue;
    const { state } = record.payload['data'] as Issue;
    states.set(state.id, state);
    if (record.at <= day.nowIs) saw(record.type, record.payload);
  }

  function answer(query: string, variables: Variables): object | undefined {
    const { id = '', stateId = '', numbers = [] } = variables;
    const issue = issues.get(id) ?? issues.values().find((one) => one.id === id);
    switch (/(?:query|mutation) (\w+)/.exec(query)?.[1] ?? '') {
      case 'TeamStates': {
        const team = issues.values().next().value?.team;
        const nodes = [...states.values()].map((state, position) => ({ ...state, position }));
        return { teams: { nodes: [{ ...team, states: { nodes, pageInfo: lastPage } }] } };
      }
      case 'IssueBlockers': {
        const isAsked = ({ number }: Issue): boolean => numbers.includes(number);
        const nodes = [...issues.values()].filter(isAsked).map(({ identifier, number }) => ({
          identifier,
          number,
          inverseRelations: { nodes: [], pageInfo: lastPage },
        }));
        return { issues: { nodes, pageInfo: lastPage } };
      }
      case 'IssuesUpdatedSince':
        return { issues: { nodes: [], pageInfo: lastPage } };
      case 'IssueState':
        return issue && { issue };
      case 'IssueText':
        return issue && { viewer: { id: 'user-demo' }, issue: textOf(issue) };
      case 'SetIssueState': {
        const state = states.get(stateId);
        if (issue === undefined || state === undefined) return undefined;
        issues.set(issue.identifier, { ...issue, state });
        return { issueUpdate: { success: true, issue: wholeIssue({ ...issue, state }) } };
      }
      default:
        return undefined;
    }
  }

  const { port, close } = await startLocalServer(({ body }, response) => {
    const { query, variables = {} } = JSON.parse(body) as {
      query: string;
      variables?: Variables;
    };
    const data = answer(query, variables);
    const missing = { message: 'Entity not found', extensions: { code: 'INPUT_ERROR' } };
    sendJson(response, 200, data === undefined ? { data: null, errors: [missing] } : { data });
  });
  return { url: `http://127.0.0.1:${port}/graphql`, saw, close };
}

const lastPage = { hasNextPage: false, endCursor: null };

/** A delivery has only some of the fields, and its labels are a plain list. */
function wholeIssue({ labels, ...issue }: Issue): object {
  const unset = { archivedAt: null, trashed: null, estimate: null, dueDate: null, cycle: null, parent: null };
  return {
    ...unset,
    priority: 0,
    priorityLabel: 'No priority',
    assignee: null,
    project: null,
    createdAt: issue.updatedAt,
    ...issue,
    labels: { nodes: labels ?? [] },
  };
}

function textOf({ title, url, state, description = null, labels }: Issue): object {
  return {
    title,
    description,
    url,
    state,
    creator: { name: 'jonas' },
    parent: null,
    labels: { nodes: labels ?? [] },
    attachments: { nodes: [] },
    comments: { nodes: [], pageInfo: lastPage },
  };
}
