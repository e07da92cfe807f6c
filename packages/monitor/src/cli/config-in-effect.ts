// What the daemon uses in place of what the files give: a last good value, or one of its own environment.
import { type ConfigEntry, projectEntry, publicValue, type ResolvedValue, sameJson } from '@svc/core';
import { addressFingerprint } from '../config/address-fingerprint.ts';
import type { Machine } from '../config/environment.ts';
import type { LoadedConfig } from '../config/load.ts';
import { Failure } from '../errors.ts';
import { connectDaemon } from './daemon-client.ts';

export type InEffect = ReadonlyMap<string, ConfigEntry>;

/** By key; empty where the daemon does not run, or does not serve the project. */
export async function otherInDaemon(
  machine: Machine,
  { files, values }: Pick<LoadedConfig, 'files' | 'values'>,
): Promise<InEffect> {
  const { folder } = files.project;
  const daemon = folder === undefined ? undefined : await connectDaemon(machine);
  if (folder === undefined || daemon === undefined) return new Map();
  const project = projectEntry(folder, values).id;
  const report = await daemon.get('/api/config', { query: { project } }).catch((error: unknown) => {
    if (error instanceof Failure && error.code === 'unknown-project') return { values: [] };
    throw error;
  });
  const here = new Map(values.map((value) => [value.key, shown(value)]));
  const other = report.values.filter(
    ({ key, value, differs }) => differs !== null || !sameJson(here.get(key) ?? null, value ?? null),
  );
  return new Map(other.map((entry) => [entry.key, entry]));
}

function shown(value: ResolvedValue): unknown {
  return publicValue(value, addressFingerprint);
}

/** `3 (last good value; …): why what the file gives is not used` */
export function effectText({ value, source, differs }: ConfigEntry): string {
  return `${JSON.stringify(value ?? null)} (${source.text})${differs === null ? '' : `: ${differs}`}`;
}
