// The package.json that is published: only what somebody who installs the package needs. Tests, tools and scripts
// of the repository stay in it.

export type Manifest = {
  name: string;
  version: string;
  bin?: Record<string, string>;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  [field: string]: unknown;
};

const PUBLISHED = [
  'name',
  'version',
  'description',
  'keywords',
  'license',
  'author',
  'homepage',
  'repository',
  'bugs',
  'type',
  'engines',
  'sideEffects',
  'exports',
  'main',
  'types',
  'bin',
  'man',
  'files',
  'dependencies',
  'optionalDependencies',
  'peerDependencies',
];

export function publishedManifest(manifest: Manifest): Manifest {
  const fields = PUBLISHED.filter((field) => manifest[field] !== undefined);
  return Object.fromEntries(fields.map((field) => [field, manifest[field]])) as Manifest;
}

/** Names of what npm installs beside the package. */
export const declaredBy = (manifest: Manifest): Set<string> =>
  new Set(
    Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies, ...manifest.peerDependencies }),
  );
