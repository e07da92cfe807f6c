// The three configuration files. A project file is committed; the other two never are.
export const layers = ['project', 'secrets', 'global'] as const;
export type Layer = (typeof layers)[number];

export const layerTitles: Record<Layer, string> = {
  project: 'project file (layer 1)',
  secrets: 'secrets file (layer 2)',
  global: 'global file',
};
