// The layers of the code (docs/internals/architecture.md): imports go down only, and none is circular.
const layers = [
  ['disk'],
  ['access', 'config', 'log', 'outbox', 'telemetry'],
  ['state', 'control', 'http'],
  ['features'],
  ['daemon'],
  ['cli'],
];
const modules = (list) => `^packages/monitor/src/(${list.flat().join('|')})/`;

const layerRules = layers.slice(0, -1).map((layer, level) => ({
  name: `layer-${level}-imports-down-only`,
  comment: `Modules ${layer.join(', ')} may import only modules of their own layer or below.`,
  severity: 'error',
  from: { path: modules(layer), pathNot: '\\.test\\.ts$' },
  to: { path: modules(layers.slice(level + 1)) },
}));

module.exports = {
  forbidden: [
    { name: 'no-circle', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'core-stands-alone',
      comment: 'core is pure: nothing of ours, no Node built-in, only zod.',
      severity: 'error',
      from: { path: '^packages/core/src/', pathNot: '\\.test\\.ts$' },
      to: { pathNot: '^packages/core/src/|node_modules/zod/' },
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
        path: '^packages/(monitor|core|relay|dashboard|demo|lib)/src/',
        pathNot: '\\.test\\.ts$|/testing/',
      },
      to: { path: '^packages/testkit/|^bench/|^chaos/|/testing/' },
    },
    {
      name: 'routes-only-answer',
      comment:
        'What one can do is a function of a feature (service.ts), for HTTP, the command line, MCP, rules and team commands.',
      severity: 'error',
      from: { pathNot: '^packages/monitor/src/daemon/routes\\.ts$|\\.test\\.ts$|/testing/' },
      to: { path: '^packages/monitor/src/features/[^/]+/routes\\.ts$' },
    },
    {
      name: 'no-unresolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    ...layerRules,
  ],
  options: {
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '/dist/' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
};
