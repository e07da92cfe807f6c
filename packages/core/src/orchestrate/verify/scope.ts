// Which side of the product a change is on. A file votes by its extension where that is clear, else by the
// nearest folder with a telling name; code without either is the backend's.
import { extensionOf, fileNameOf, foldersOf, isDocumentation, isForeign, languageOf } from './file-kind.ts';

export const diffScopes = ['backend', 'frontend', 'fullstack', 'docs-only'] as const;
export type DiffScope = (typeof diffScopes)[number];
type Side = 'backend' | 'frontend';

const extensions: Readonly<Record<Side, string>> = {
  frontend: 'tsx jsx vue svelte astro css scss sass less styl html htm hbs storyboard xib',
  backend:
    'py pyi go rs java kt kts groovy scala cs fs vb rb rake php ex exs c h cc cpp cxx hpp sql proto prisma graphql tf',
};
const folders: Readonly<Record<Side, string>> = {
  frontend:
    'frontend front-end client clients web webapp www ui gui components component pages views layouts styles ' +
    'hooks public assets browser dashboard storybook stories android ios mobile',
  backend:
    'backend back-end server servers api apis services service db database migrations migration workers worker ' +
    'jobs queue queues cmd internal controllers models routes handlers lambda lambdas functions cli daemon core',
};
/** Apps for phones are written in languages that are a backend's elsewhere. */
const appFolders = new Set(['android', 'ios', 'mobile']);

const sideOf = (table: Readonly<Record<Side, string>>): ReadonlyMap<string, Side> =>
  new Map(
    (['frontend', 'backend'] as const).flatMap((side) =>
      table[side].split(' ').map((word) => [word, side] as const),
    ),
  );
const sideByExtension = sideOf(extensions);
const sideByFolder = sideOf(folders);

/** `scopeOfDiff(['web/cart.tsx', 'server/cart.go'])` is `fullstack`. Nothing changed is `docs-only`. */
export function scopeOfDiff(paths: readonly string[]): DiffScope {
  const others = paths.filter((path) => !isDocumentation(path));
  if (others.length === 0) return 'docs-only';
  const sides = new Set(others.map(voteOf));
  if (sides.has('frontend') && sides.has('backend')) return 'fullstack';
  return sides.has('frontend') ? 'frontend' : 'backend';
}

/** Whether tests can be demanded for it: code or style, not settings and data. */
export function isSubjectToTests(path: string): boolean {
  return !isDocumentation(path) && !isForeign(path) && voteOf(path) !== undefined;
}

function voteOf(path: string): Side | undefined {
  const onTheWay = foldersOf(path);
  if (onTheWay.some((folder) => appFolders.has(folder)) && languageOf(path) !== 'other') return 'frontend';
  const clear = sideByExtension.get(extensionOf(path));
  if (clear !== undefined) return clear;
  if (languageOf(path) === 'other' || isSettings(path)) return undefined;
  const nearest = onTheWay.findLast((folder) => sideByFolder.has(folder));
  return nearest === undefined ? 'backend' : sideByFolder.get(nearest);
}

/** `vite.config.ts`: neither side's. */
function isSettings(path: string): boolean {
  return /\.(?:config|conf|rc)$/.test(fileNameOf(path).replace(/\.[a-z]{2,3}$/, ''));
}
