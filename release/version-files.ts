// Where the version of this repository is written.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { VersionFiles } from './versions.ts';

export const root = join(import.meta.dirname, '..');

const PLACES = [
  'version.txt',
  'package.json',
  'packages/*/package.json',
  'package-lock.json',
  'schemas/openapi.json',
  'examples/relay/kubernetes/relay.yaml',
];

export function readVersionFiles(): VersionFiles {
  const paths = PLACES.flatMap((place) => globSync(place, { cwd: root }).toSorted());
  return new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]));
}

export const currentVersion = (): string => readFileSync(join(root, 'version.txt'), 'utf8').trim();
