// `POST /api/graphql`: executes the operation against the schema next to this file. Anything that is not in the schema
// is rejected, so a wrong query of ours fails in a test. Errors have the vendor's form: the type is next to the
// message, and the rest of the answer is still there.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSchema, execute, GraphQLError, parse, validate } from 'graphql';
import type { JsonObject } from '../payloads/example.ts';
import type { Answer } from './answer.ts';
import { type CodehostCloud, fullNameOf, type PullRequestRow, type RepoRow } from './cloud.ts';

// Rows in the form of the GraphQL schema: a root for one caller.

type View = Record<string, unknown>;
type Listing = {
  first?: number;
  last?: number;
  states?: string[];
  orderBy?: { field: string; direction: string };
};

const LARGEST_PAGE = 100;

function createRoot(cloud: CodehostCloud): View {
  return {
    viewer: () => ({ login: 'kim', url: 'https://codehost.example/kim', __typename: 'User' }),
    repository({ owner, name }: { owner: string; name: string }): View {
      const found = cloud.find(`${owner}/${name}`);
      if (found === undefined) throw notResolved(`a Repository with the name '${owner}/${name}'.`);
      return repository(found.repo);
    },
  };
}

function repository(repo: RepoRow): View {
  return {
    id: `R_${repo.id}`,
    name: repo.name,
    nameWithOwner: fullNameOf(repo),
    pullRequest({ number }: { number: number }): View {
      const row = repo.pullRequests.find((one) => one.number === number);
      if (row === undefined) throw notResolved(`a PullRequest with the number of ${number}.`);
      return pullRequest(repo, row);
    },
    pullRequests: (listing: Listing) => listed(repo, listing),
  };
}

function listed(repo: RepoRow, { first, last, states, orderBy }: Listing): View {
  const size = first ?? last;
  if (size === undefined)
    throw new GraphQLError('You must provide a `first` or `last` value to properly paginate');
  if (size < 1 || size > LARGEST_PAGE)
    throw new GraphQLError(`Requesting ${size} records exceeds the limit of 100`);
  const key = orderBy?.field === 'UPDATED_AT' ? 'updatedAt' : 'createdAt';
  const sorted = repo.pullRequests
    .filter(({ state }) => states === undefined || states.includes(state))
    .toSorted((one, other) => one[key] - other[key]);
  const rows = orderBy?.direction === 'DESC' ? sorted.toReversed() : sorted;
  const page = last === undefined ? rows.slice(0, size) : rows.slice(-size);
  return {
    nodes: page.map((row) => pullRequest(repo, row)),
    totalCount: rows.length,
    pageInfo: { hasNextPage: rows.length > size, hasPreviousPage: false, startCursor: null, endCursor: null },
  };
}

function pullRequest(repo: RepoRow, row: PullRequestRow): View {
  const rollup = row.checks === null ? null : { id: `SC_${row.headSha}`, state: row.checks };
  const head = { id: `C_${row.headSha}`, oid: row.headSha, statusCheckRollup: rollup };
  return {
    id: `PR_${repo.id}_${row.number}`,
    number: row.number,
    title: row.title,
    url: `https://codehost.example/${fullNameOf(repo)}/pull/${row.number}`,
    state: row.state,
    isDraft: row.isDraft,
    merged: row.state === 'MERGED',
    mergedAt: timeOf(row.mergedAt),
    mergedBy: actor(row.mergedBy),
    mergeCommit:
      row.mergeSha === null ? null : { id: `C_${row.mergeSha}`, oid: row.mergeSha, statusCheckRollup: null },
    author: actor(row.author),
    createdAt: timeOf(row.createdAt),
    updatedAt: timeOf(row.updatedAt),
    closedAt: timeOf(row.closedAt),
    headRefName: row.branch,
    headRefOid: row.headSha,
    headRepository: () => repository(repo),
    repository: () => repository(repo),
    baseRefName: row.base,
    mergeable: row.mergeable,
    mergeStateStatus: row.mergeStateStatus,
    reviewDecision: row.reviewDecision,
    statusCheckRollup: rollup,
    commits: { nodes: [{ id: `PRC_${row.number}`, commit: head }], totalCount: 1, pageInfo: onePage },
  };
}

const onePage = { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null };

function actor(login: string | null): View | null {
  return login === null ? null : { __typename: 'User', login, url: `https://codehost.example/${login}` };
}

function timeOf(milliseconds: number | null): string | null {
  return milliseconds === null ? null : new Date(milliseconds).toISOString().replace(/\.\d{3}Z$/, 'Z');
}

function notResolved(what: string): GraphQLError {
  return new GraphQLError(`Could not resolve to ${what}`, { extensions: { type: 'NOT_FOUND' } });
}

const schema = buildSchema(readFileSync(join(import.meta.dirname, 'schema.graphql'), 'utf8'));

export async function answerGraphql(cloud: CodehostCloud, body: JsonObject): Promise<Answer> {
  const query = typeof body['query'] === 'string' ? body['query'] : '';
  try {
    const document = parse(query);
    const errors = validate(schema, document);
    if (errors.length > 0) return { status: 200, body: { errors: errors.map(shown) } };
    const variableValues = (body['variables'] ?? {}) as JsonObject;
    const result = await execute({ schema, document, rootValue: createRoot(cloud), variableValues });
    const failed = result.errors && { errors: result.errors.map(shown) };
    return { status: 200, body: { data: result.data, ...failed } };
  } catch (error) {
    if (error instanceof GraphQLError) return { status: 200, body: { errors: [shown(error)] } };
    throw error;
  }
}

export function rateLimitedAnswer(): Answer {
  return { status: 200, body: { errors: [{ type: 'RATE_LIMITED', message: 'API rate limit exceeded' }] } };
}

function shown({ message, path, locations, extensions }: GraphQLError): object {
  const { type, ...others } = extensions;
  return {
    ...(type !== undefined && { type }),
    ...(path && { path }),
    ...(Object.keys(others).length > 0 && { extensions: others }),
    ...(locations && { locations }),
    message,
  };
}
