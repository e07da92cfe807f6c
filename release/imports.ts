// Whether an installed package finds what it imports: every package that its files name is declared, and every one
// that is declared is needed.
import { isBuiltin } from 'node:module';
import { parseSync } from 'rolldown/utils';

/** The packages that a file imports, also with `require` and `import()`. Node's own and relative ones are left out. */
export function importedPackages(path: string, source: string): Set<string> {
  const { program, errors } = parseSync(path, source);
  const [error] = errors;
  if (error !== undefined) throw new Error(`${path} cannot be parsed: ${error.message}`);
  const packages = new Set<string>();
  for (const specifier of specifiersIn(program))
    if (!/^[./#]/.test(specifier) && !/^[a-z]+:/.test(specifier) && !isBuiltin(specifier))
      packages.add(packageOf(specifier));
  return packages;
}

const IMPORTING = new Set([
  'ImportDeclaration',
  'ExportNamedDeclaration',
  'ExportAllDeclaration',
  'ImportExpression',
  'TSImportType',
]);

function* specifiersIn(node: unknown): Generator<string> {
  if (Array.isArray(node)) {
    for (const each of node) yield* specifiersIn(each);
    return;
  }
  if (!isNode(node)) return;
  const { type, source, callee, arguments: given } = node;
  if (IMPORTING.has(type) && typeof source?.value === 'string') yield source.value;
  // The bundler's own name for it has two underscores in front.
  if (
    type === 'CallExpression' &&
    /^_*require$/.test(callee?.name ?? '') &&
    typeof given?.[0]?.value === 'string'
  )
    yield given[0].value;
  for (const value of Object.values(node)) yield* specifiersIn(value);
}

type Node = {
  type: string;
  source?: { value?: unknown };
  callee?: { name?: string };
  arguments?: { value?: unknown }[];
};

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

const packageOf = (specifier: string): string =>
  specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');

/** `peersOf`: the peer dependencies of a package, which whoever installs it has to bring along. */
export function dependencyProblems(given: {
  imported: ReadonlySet<string>;
  declared: ReadonlySet<string>;
  peersOf: (name: string) => readonly string[];
}): string[] {
  const { imported, declared, peersOf } = given;
  const needed = new Set([...imported, ...[...imported].flatMap(peersOf)]);
  return [
    ...[...imported]
      .filter((name) => !declared.has(name))
      .map((name) => `${name} is imported and not declared`),
    ...[...declared]
      .filter((name) => !needed.has(name))
      .map((name) => `${name} is declared and not imported`),
  ];
}
