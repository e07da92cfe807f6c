// Every GraphQL document that we send to the tracker. documents.test.ts checks each against the vendor's published
// schema.

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

const labelFields = `
  id
  name
  isGroup
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

  // Includes archived and trashed issues: removing an issue is also an update.
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

  IssueState: `
    query IssueState($id: String!) {
      issue(id: $id) {
        id
        identifier
        state { id name type }
        team { id key }
      }
    }`,

  IssueText: `
    query IssueText($id: String!, $comments: Int!, $after: String) {
      viewer { id }
      issue(id: $id) {
        title
        description
        url
        state { name }
        creator { name }
        parent { identifier title url }
        labels(first: 100) { nodes { name } }
        attachments(first: 100) { nodes { title url } }
        comments(first: $comments, after: $after, orderBy: createdAt) {
          nodes { id body createdAt user { id name } botActor { name } }
          pageInfo { hasNextPage endCursor }
        }
      }
    }`,

  // What blocks an issue is in its inverse relations: the other issue is the one that blocks.
  IssueBlockers: `
    query IssueBlockers(
      $team: String!
      $numbers: [Float!]!
      $first: Int!
      $after: String
      $relations: Int!
      $relationsAfter: String
    ) {
      issues(
        filter: { team: { key: { eqIgnoreCase: $team } }, number: { in: $numbers } }
        includeArchived: true
        first: $first
        after: $after
      ) {
        nodes {
          identifier
          number
          inverseRelations(first: $relations, after: $relationsAfter) {
            nodes {
              type
              issue { identifier state { name type } }
            }
            pageInfo { hasNextPage endCursor }
          }
        }
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

  LabelsNamed: `
    query LabelsNamed($name: String!, $after: String) {
      issueLabels(filter: { name: { eqIgnoreCase: $name } }, first: 100, after: $after) {
        nodes { ${labelFields} }
        pageInfo { hasNextPage endCursor }
      }
    }`,

  CreateLabel: `
    mutation CreateLabel($name: String!, $teamId: String!) {
      issueLabelCreate(input: { name: $name, teamId: $teamId }) {
        success
        issueLabel { ${labelFields} }
      }
    }`,

  CreateIssue: `
    mutation CreateIssue($input: IssueCreateInput!) {
      issueCreate(input: $input) {
        success
        issue { id identifier url }
      }
    }`,

  // Includes archived ones: a ticket that a person has archived was filed.
  IssuesWithText: `
    query IssuesWithText($teamId: ID!, $text: String!) {
      issues(
        filter: { team: { id: { eq: $teamId } }, description: { contains: $text } }
        includeArchived: true
        first: 1
      ) {
        nodes { id identifier url }
      }
    }`,
} as const;
