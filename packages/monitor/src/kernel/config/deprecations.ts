// Deprecated keys and locations. Each still works, with a warning, until the version in `removedIn`; the current key wins
// when one file sets both.
import type { Layer } from './field.ts';

export type Deprecation = {
  /** The key as it may still be written. */
  key: string;
  /** The files in which writing it is deprecated. */
  layers: readonly Layer[];
  /** The key that is read in its place. */
  replacement: string;
  remedy: string;
  removedIn: string;
};

export function deprecationOf(
  deprecations: readonly Deprecation[],
  key: string,
  fileLayers: readonly Layer[],
): Deprecation | undefined {
  return deprecations.find(
    (entry) => entry.key === key && entry.layers.some((layer) => fileLayers.includes(layer)),
  );
}
