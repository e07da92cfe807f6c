// The order in which the site is read. A page of docs/ that stands in no section fails `npm run docs:check`.

export type Section = { title: string; pages: readonly { file: string; title: string }[] };

export const sections: readonly Section[] = [
  {
    title: 'Guide',
    pages: [
      { file: 'docs/guide/install.md', title: 'Install' },
      { file: 'docs/guide/first-run.md', title: 'First run' },
      { file: 'docs/guide/webhooks.md', title: 'Webhooks' },
      { file: 'docs/guide/deploy-verification.md', title: 'Deploy verification' },
      { file: 'docs/guide/relay.md', title: 'A relay of your own' },
      { file: 'docs/guide/teams.md', title: 'Teams' },
      { file: 'docs/guide/agents.md', title: 'Agents' },
      { file: 'docs/guide/troubleshooting.md', title: 'Troubleshooting' },
    ],
  },
  {
    title: 'Subjects',
    pages: [
      { file: 'docs/demo.md', title: 'The demo' },
      { file: 'docs/first-run.md', title: 'svc init' },
      { file: 'docs/service.md', title: 'The daemon as a service' },
      { file: 'docs/feeds.md', title: 'Feeds in trouble' },
      { file: 'docs/deploys.md', title: 'From the merge to production' },
      { file: 'docs/attention.md', title: 'What needs a person' },
      { file: 'docs/rules.md', title: 'Rules' },
      { file: 'docs/orchestration.md', title: 'Running many tickets' },
      { file: 'docs/mcp.md', title: 'svc mcp' },
      { file: 'docs/summaries.md', title: 'Summaries' },
      { file: 'docs/findings.md', title: 'Findings' },
      { file: 'docs/archive.md', title: 'The archive' },
      { file: 'docs/observability.md', title: 'Metrics, logs, traces' },
      { file: 'docs/doctor.md', title: 'svc doctor' },
      { file: 'docs/moving.md', title: 'Copying and moving' },
    ],
  },
  {
    title: 'The relay',
    pages: [
      { file: 'docs/relay/README.md', title: 'Overview' },
      { file: 'docs/relay/protocol.md', title: 'Protocol' },
      { file: 'docs/relay/operations.md', title: 'Running it' },
      { file: 'docs/relay/capacity.md', title: 'Capacity' },
      { file: 'docs/relay/security.md', title: 'Security' },
    ],
  },
  {
    title: 'Reference',
    pages: [
      { file: 'docs/reference/verbs.md', title: 'Verbs' },
      { file: 'docs/reference/config.md', title: 'Configuration' },
      { file: 'docs/reference/events.md', title: 'Events' },
      { file: 'docs/reference/routes.md', title: 'Routes' },
      { file: 'docs/reference/dashboard.md', title: 'The dashboard’s routes' },
      { file: 'docs/reference/state.md', title: 'State' },
      { file: 'docs/reference/metrics.md', title: 'Metrics' },
      { file: 'docs/reference/exit-codes.md', title: 'Exit codes' },
    ],
  },
  {
    title: 'The codebase',
    pages: [
      { file: 'docs/architecture.md', title: 'Architecture' },
      { file: 'docs/glossary.md', title: 'Glossary' },
      { file: 'docs/scale.md', title: 'Scale, measured' },
      { file: 'docs/conformance.md', title: 'Conformance' },
      { file: 'docs/mutations/README.md', title: 'Mutations' },
      { file: 'docs/design-language.md', title: 'Design language' },
      { file: 'docs/decisions/README.md', title: 'Decisions' },
      { file: 'CONTRIBUTING.md', title: 'Contributing' },
      { file: 'docs/releasing.md', title: 'Releasing' },
      { file: 'SECURITY.md', title: 'Security' },
      { file: 'CHANGELOG.md', title: 'Changes' },
    ],
  },
];

/** The page that opens the site. */
export const home = 'docs/README.md';

/** Folders whose pages are reached from their index, not from the side. */
export const indexedFolders: readonly { folder: string; index: string }[] = [
  { folder: 'docs/decisions/', index: 'docs/decisions/README.md' },
];
