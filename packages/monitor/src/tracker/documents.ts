// Every GraphQL document that we send to the tracker. documents.test.ts holds each against the vendor's
// published schema.

const issueFields = `
  id
  identifier
  title
  url
  createdAt
  updatedAt
  archivedAt
  trashed
  priority
  priorityLabel
  estimate
  dueDate
  state { id name type }
  team { id key }
  assignee { id name }
  project { name }
  cycle { number }
  parent { id }
  labels(first: 20) { nodes { name } }
`;

const webhookFields = `
  id
  url
  enabled
  resourceTypes
  allPublicTeams
  team { id }
`;

export const trackerDocuments = {
  TeamStates: `
    query TeamStates($filter: TeamFilter!, $after: String) {
      teams(filter: $filter, first: 1) {
        nodes {
          id
          key
          name
          states(first: 250, after: $after) {
            nodes { id name type position }
            pageInfo { hasNextPage endCursor }
          }
        }
      }
    }`,

  Teams: `
    query Teams($after: String) {
      teams(first: 100, after: $after) {
        nodes { id key name }
        pageInfo { hasNextPage endCursor }
      }
    }`,

  Webhooks: `
    query Webhooks($after: String) {
      webhooks(first: 100, after: $after) {
        nodes { ${webhookFields} }
        pageInfo { hasNextPage endCursor }
      }
    }`,

  CreateWebhook: `
    mutation CreateWebhook($input: WebhookCreateInput!) {
      webhookCreate(input: $input) {
        success
        webhook { secret ${webhookFields} }
      }
    }`,

  DeleteWebhook: `
    mutation DeleteWebhook($id: String!) {
      webhookDelete(id: $id) { success }
    }`,

  // Archived and trashed issues too: that an issue went away is also an update.
  IssuesUpdatedSince: `
    query IssuesUpdatedSince($teamId: ID!, $since: DateTimeOrDuration!, $first: Int!, $after: String) {
      issues(
        filter: { team: { id: { eq: $teamId } }, updatedAt: { gte: $since } }
        orderBy: updatedAt
        includeArchived: true
        first: $first
        after: $after
      ) {
        nodes { ${issueFields} }
        pageInfo { hasNextPage endCursor }
      }
    }`,

  SetIssueState: `
    mutation SetIssueState($id: String!, $stateId: String!) {
      issueUpdate(id: $id, input: { stateId: $stateId }) {
        success
        issue { ${issueFields} }
      }
    }`,
} as const;
