// Keeps the files that join the features equal to the list and to the folders: what a folder exports under a known name is
// added, what is gone is removed. The order in a file stays: it is the order of folds, routes and help.
// `npm run features [-- --check]`; with `--without <feature>`, repeated, it shows what remains works without a feature.
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { features } from './src/features/index.ts';

const { check = false, without = [] } = parseArgs({
  options: { check: { type: 'boolean' }, without: { type: 'string', multiple: true } },
}).values;
const root = join(import.meta.dirname, 'src/features');
const screens = join(import.meta.dirname, '../dashboard/src/screens');

/** `from`: the files of a feature; `name`: what they export; `into`: the list without its last bracket. */
type List = { root?: string; file: string; from: string; name: RegExp; entry?: string; into: RegExp };

const lists: readonly List[] = [
  { file: 'topics', from: 'topics.ts', name: /(?:Topics|Details)$/, into: /createTopicTable\(\{[^}]*/ },
  { file: 'api', from: '{api,policy-api}.ts', name: /Routes$/, into: /export const api = \{[^}]*/ },
  { file: 'config', from: 'config.ts', name: /(?<!Root)Keys$/, into: /svc: z\s*\.object\(\{[^}]*/ },
  { file: 'config', from: 'config.ts', name: /RootKeys$/, into: /\.prefault\(\{\}\),[^}]*/ },
  {
    file: 'configure',
    from: 'config-part.ts',
    name: /Config$/,
    entry: '',
    into: /createConfiguration\(Config, \[[^\]]*/,
  },
  { file: 'board', from: 'slice.ts', name: /Slices?$/, into: /slices: \{[^}]*/ },
  { file: 'board', from: 'fold-*.ts', name: /Folds$/, into: /folds: \[[^\]]*/ },
  {
    file: 'effect-kinds',
    from: 'effect-kinds.ts',
    name: /Effect(?:s|Kinds)$/,
    into: /\.\.\.workerEffects,[^}]*/,
  },
  { file: 'checks', from: 'checks.ts', name: /Checks$/, into: /askingChecks[^=]*= \[[^\]]*/ },
  { file: 'parts', from: 'index.ts', name: /^open[A-Z]/, entry: '', into: /openFeatures[^=]*= \[[^\]]*/ },
  {
    root: screens,
    file: 'panels',
    from: 'index.ts',
    name: /Panel$/,
    entry: '',
    into: /ticketPanels[^=]*= \[[^\]]*/,
  },
  {
    root: screens,
    file: 'panels',
    from: 'index.ts',
    name: /Remedy$/,
    entry: '',
    into: /remedies[^=]*= \[[^\]]*/,
  },
];

if (without.length > 0) {
  const { worksWithout } = await import('./without-feature.ts');
  let failed = 0;
  for (const feature of without) if (!(await worksWithout(feature))) failed += 1;
  process.exit(failed === 0 ? 0 : 1);
}

let drift = 0;
const files = [...lists.map(({ root: at = root, file }) => join(at, `${file}.ts`)), join(root, 'verbs.ts')];
for (const path of new Set(files)) {
  const before = readFileSync(path, 'utf8');
  const own = lists.filter(({ root: at = root, file }) => join(at, `${file}.ts`) === path);
  const after = own.reduce(withMissing, withoutGone(before, dirname(path)));
  if (after === before) continue;
  drift += 1;
  const name = relative(join(import.meta.dirname, '../..'), path);
  if (check) console.error(`${name} does not join what the features export. Run: npm run features`);
  else {
    writeFileSync(path, after);
    execFileSync('biome', ['check', '--write', path], { stdio: 'ignore' });
    console.log(`wrote ${name}`);
  }
}
if (check && drift > 0) process.exitCode = 1;

/** Without the imports of folders that are gone, or not in the list, and without the lines that use them. */
function withoutGone(text: string, folder: string): string {
  const known: readonly string[] = features;
  const isGone = (feature: string): boolean => !known.includes(feature) || !existsSync(join(folder, feature));
  let rest = text;
  for (const [line, names = '', feature = ''] of text.matchAll(
    /^import (?:type )?\{([^}]*)\} from '\.\/([a-z-]+)\/[^']*';\n/gm,
  )) {
    if (!isGone(feature)) continue;
    rest = rest.replace(line, '');
    for (const name of names.split(',').map((part) => part.trim().replace(/^type /, '')))
      rest = rest.replaceAll(
        new RegExp(`(?:\\.\\.\\.)?\\b${name}\\b(?:\\(\\))?(?:,\\s*|(?=\\s*[\\]}]))`, 'g'),
        '',
      );
  }
  return rest.replaceAll(
    /^ +(?:'[\w-]+'|\w+): async \(\) =>\s*\(await import\('\.\/([a-z-]+)\/[^\n]*\n/gm,
    (line: string, feature: string) => (isGone(feature) ? '' : line),
  );
}

function withMissing(
  text: string,
  { root: folder = root, file: list, from, name, entry = '...', into }: List,
): string {
  let joined = text;
  for (const feature of features)
    for (const file of globSync(from, { cwd: join(folder, feature) }).toSorted())
      for (const [, found = ''] of readFileSync(join(folder, feature, file), 'utf8').matchAll(
        /^export const (\w+)/gm,
      )) {
        if (!name.test(found) || new RegExp(`\\b${found}\\b`).test(joined)) continue;
        const [before] = into.exec(joined) ?? [];
        if (before === undefined) throw new Error(`${list}.ts has no list for ${found}`);
        const comma = /[,[{]\s*$/.test(before) ? '' : ',';
        joined = joined
          .replace(before, () => `${before.trimEnd()}${comma} ${entry}${found},\n`)
          .replace(/^import /m, () => `import { ${found} } from './${feature}/${file}';\nimport `);
      }
  return joined;
}
