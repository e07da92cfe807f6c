// The notices of code that is bundled into a package: its licences require their text to be included. Written by the
// builds (packages/*/build.ts) from the bundler's real inputs, and read by the release.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Licensed } from './licences.ts';

export const NOTICES = 'THIRD-PARTY-NOTICES.txt';

/** `words`: the text of its licence and notices. */
export type Bundled = Licensed & { words: string };

const RULE = '='.repeat(80);
const TITLE = 'Third-party code in this package\n';
const SOME = `${TITLE}
The files of this package contain code of the packages listed here. Their licences are below the list.
`;
const NONE = `${TITLE}\nNone: what this package needs is installed with it.\n`;

/** The folder of the package that a module is from; `undefined` for our own modules. */
export function packageFolderOf(module: string): string | undefined {
  // A bundler's own modules start with a mark, and some file modules end with a query.
  const path = module.replace(/^\0/, '').replace(/\?.*$/, '');
  return /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0];
}

/** The packages that these modules of a bundle are from. */
export function bundledIn(modules: Iterable<string>): Bundled[] {
  const folders = new Set([...modules].map(packageFolderOf).filter((folder) => folder !== undefined));
  return [...folders].map(readBundled);
}

/** Throws if a package cannot be read: a missing notice would violate its licence. */
export function readBundled(folder: string): Bundled {
  const manifest = join(folder, 'package.json');
  if (!existsSync(manifest))
    throw new Error(`${folder} is bundled, but has no package.json with its licence`);
  const { name, version, license } = JSON.parse(readFileSync(manifest, 'utf8')) as Record<string, unknown>;
  const files = readdirSync(folder)
    .filter((file) => /^(?:licen[cs]e|copying|notice)/i.test(file))
    .toSorted();
  const words = files.map((file) => readFileSync(join(folder, file), 'utf8').trim()).join('\n\n');
  return {
    name: String(name),
    version: String(version),
    licence: typeof license === 'string' ? license : undefined,
    words,
  };
}

/** Each package once; packages with the same text share it. */
export function noticesText(bundled: readonly Bundled[]): string {
  if (bundled.length === 0) return NONE;
  const once = new Map(bundled.map((each) => [`${each.name} ${each.version}`, each]));
  const sorted = [...once].toSorted(([a], [b]) => a.localeCompare(b));
  const list = sorted.map(([title, { licence }]) => `- ${title} (${licence ?? 'unknown'})`);
  const sections = [...Map.groupBy(sorted, ([, each]) => wordsOf(each))].map(
    ([words, of]) => `${RULE}\n${of.map(([title]) => title).join('\n')}\n\n${words}\n`,
  );
  return [SOME, `${list.join('\n')}\n`, ...sections].join('\n');
}

const wordsOf = ({ words, licence }: Bundled): string =>
  words.replaceAll('\r\n', '\n').trim() ||
  `The package comes without a licence text. Its package.json states: ${licence ?? 'nothing'}`;

/** The packages in a file of notices. */
export function readNotices(text: string): Licensed[] {
  const [list = ''] = text.split(RULE, 1);
  return [...list.matchAll(/^- (\S+) (\S+) \((.+)\)$/gm)].map(([, name = '', version = '', licence]) => ({
    name,
    version,
    licence: licence === 'unknown' ? undefined : licence,
  }));
}
