const { readFileSync } = require('node:fs');
// What may import what (docs/internals/architecture.md). No import is circular.
const monitor = '^packages/monitor/src/';
const notTests = '\\.test\\.ts$|/testing/';
/** Files of features that run in a command of svc. */
const commands = `${monitor}features/(?:verbs|checks|mcp-tools|[^/]+/(?:verbs|checks|mcp-tools))[./]`;
/** Files of features that do input or output. */
const impure = `${commands}|${monitor}features/(?:parts\\.ts$|[^/]+/(?:io/|(?:service|routes|effects|index)\\.ts$))`;
/** What the shell still knows of features. The list can only get shorter. */
const known = `${monitor}features/(?:configure|verbs|sessions/io/hook|team/command|workers/worker-label|worktrees/io/git)\\.ts$`;

/** Imports against the order of features. The list can only get shorter. */
const against = {
  deploy: ['runs'],
  doctor: ['monitor'],
  health: ['doctor'],
  init: ['monitor'],
  setup: ['monitor'],
};
const order = Array.from(
  readFileSync(`${__dirname}/packages/monitor/src/features/index.ts`, 'utf8').matchAll(
    /^ {2}'([a-z-]+)',$/gm,
  ),
  ([, name]) => name,
);
const orderOfFeatures = order.slice(0, -1).map((name, index) => ({
  name: 'order-of-features',
  comment: 'A feature imports only those above it in features/index.ts.',
  severity: 'error',
  from: { path: `${monitor}features/${name}/`, pathNot: notTests },
  to: {
    path: `${monitor}features/(?:${order
      .slice(index + 1)
      .filter((other) => !(against[name] ?? []).includes(other))
      .join('|')})/`,
  },
}));

module.exports = {
  forbidden: [
    ...orderOfFeatures,
    { name: 'no-circle', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'contract-stands-alone',
      comment:
        'What crosses a process is pure: nothing of ours but pure files of lib, no Node built-in, only zod.',
      severity: 'error',
      from: { path: '^packages/contract/src/', pathNot: notTests },
      to: { pathNot: '^packages/(?:contract|lib)/src/|node_modules/zod/' },
    },
    {
      name: 'kernel-knows-no-feature',
      severity: 'error',
      from: { path: `${monitor}kernel/`, pathNot: notTests },
      to: { path: `${monitor}(?:features|daemon|cli)/` },
    },
    {
      name: 'features-know-no-shell',
      severity: 'error',
      from: { path: `${monitor}features/`, pathNot: `${notTests}|${commands}` },
      to: { path: `${monitor}(?:daemon|cli)/` },
    },
    {
      name: 'verbs-use-the-kit',
      comment:
        'Of the shell, verbs, checks and MCP tools use the kit alone. Two verbs start the daemon, and the list has the completion.',
      severity: 'error',
      from: { path: commands, pathNot: notTests },
      to: {
        path: `${monitor}(?:daemon|cli)/`,
        pathNot: `${monitor}(?:cli/kit/|cli/completion/(?:verb|scripts)\\.ts$|daemon/lifetime\\.ts$)`,
      },
    },
    {
      name: 'shell-knows-no-feature',
      comment: 'It has the list of verbs. What completion offers is collected when svc is built.',
      severity: 'error',
      from: {
        path: `${monitor}cli/`,
        pathNot: `${notTests}|${monitor}cli/completion/make-vocabulary\\.ts$`,
      },
      to: { path: `${monitor}features/`, pathNot: known },
    },
    {
      name: 'daemon-knows-no-command-line',
      severity: 'error',
      from: { path: `${monitor}daemon/`, pathNot: notTests },
      to: { path: `${monitor}cli/` },
    },
    {
      name: 'a-file-of-a-feature-is-pure',
      comment:
        'Nothing of Node and nothing that does input or output, unless its name or its folder io/ says so.',
      severity: 'error',
      from: { path: `${monitor}features/`, pathNot: `${notTests}|${impure}` },
      to: { path: impure, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'a-file-of-a-feature-uses-no-node',
      severity: 'error',
      from: { path: `${monitor}features/`, pathNot: `${notTests}|${impure}` },
      to: { dependencyTypes: ['core'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'lib-is-at-the-bottom',
      comment: 'lib knows nothing of the product.',
      severity: 'error',
      from: { path: '^packages/lib/src/', pathNot: '\\.test\\.ts$' },
      to: { path: '^(?:packages/(?!lib/)|bench/|chaos/|docs/|release/)' },
    },
    {
      name: 'client-stands-alone',
      comment:
        'client is published by itself, for browsers too: nothing of ours at run time, no Node built-in.',
      severity: 'error',
      from: { path: '^packages/client/src/', pathNot: '\\.test\\.ts$' },
      to: {
        pathNot: '^packages/client/src/|node_modules/eventsource-parser/',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'testkit-is-for-tests',
      severity: 'error',
      from: {
        path: '^packages/(monitor|contract|relay|dashboard|demo|lib)/src/',
        pathNot: '\\.test\\.ts$|/testing/',
      },
      to: { path: '^packages/testkit/|^bench/|^chaos/|/testing/' },
    },
    {
      name: 'routes-only-answer',
      comment:
        'What one can do is a function of a feature (service.ts), for HTTP, the command line, MCP, rules and team commands.',
      severity: 'error',
      from: {
        pathNot: '^packages/monitor/src/(?:daemon/routes|features/[^/]+/index)\\.ts$|\\.test\\.ts$|/testing/',
      },
      to: { path: '^packages/monitor/src/features/[^/]+/routes\\.ts$' },
    },
    {
      name: 'no-unresolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '/dist/' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
};
