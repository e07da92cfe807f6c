// The floors of the house (docs/architecture.md): imports go down only, and there is no circle.
const floors = [
  ['disk'],
  ['access', 'config', 'log', 'tunnel', 'runs', 'outbox', 'context', 'telemetry'],
  ['receive', 'codehost', 'tracker', 'state', 'orchestrate', 'archive'],
  ['deploy', 'rules', 'summarize', 'feedback', 'feeds', 'control', 'http'],
  ['daemon'],
  ['cli'],
];
const rooms = (list) => `^packages/monitor/src/(${list.flat().join('|')})/`;

const floorRules = floors.slice(0, -1).map((floor, level) => ({
  name: `floor-${level}-looks-down-only`,
  comment: `Rooms ${floor.join(', ')} may import only rooms of their own floor or below.`,
  severity: 'error',
  from: { path: rooms(floor), pathNot: '\\.test\\.ts$' },
  to: { path: rooms(floors.slice(level + 1)) },
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
      comment: 'client is published by itself, for browsers too: nothing of ours at run time, no Node built-in.',
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
      name: 'no-unresolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    ...floorRules,
  ],
  options: {
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '/dist/' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
};
