// Sets up the code host's feed on this machine. What is done, in this order, so that a run that fails
// anywhere is finished by the next one:
//   1. The relay channel is in the global file: the one that is there, the one left in the project file
//      from an earlier version, or a new one. With --force always a new one.
//   2. The secret is in its file, mode 600: kept, or made. With --force always a new one.
//   3. The project file names the variable of the secret, and no longer holds a channel.
//   4. The project is in the list of those that the daemon serves.
import { randomBytes } from 'node:crypto';
import type { ResolvedValue } from '@svc/core';
import type { ConfigFiles } from '../config/load.ts';
import type { ConfigStore } from '../config/store.ts';
import { readSecretFile, writeSecretFile } from '../disk/secret-file.ts';

const SECRET_BYTES = 32;
const channelKey = 'svc.monitor.github.smeeChannel';
const variableKey = 'svc.monitor.github.webhookSecretEnv';
const projectsKey = 'svc.projects';

export type ChannelSetup = {
  channel: string;
  /** The channel before, when it was replaced: hooks that point to it are to be removed. */
  replaced: string | undefined;
  secretFile: string;
  variable: string;
};

export async function setUpChannel(options: {
  values: readonly ResolvedValue[];
  files: ConfigFiles;
  store: Pick<ConfigStore, 'set' | 'setMany'>;
  secretFile: string;
  force: boolean;
  provision: () => Promise<string>;
  tell: (line: string) => void;
}): Promise<ChannelSetup> {
  const { values, store, secretFile, force, tell } = options;
  const valueOf = (key: string): unknown => values.find((value) => value.key === key)?.value;
  const known = textOf(valueOf(channelKey));
  const channel = force || known === undefined ? await options.provision() : known;
  await store.set('global', channelKey.split('.'), channel);
  tell(channel === known ? `Relay channel kept: ${channel}` : `Relay channel made: ${channel}`);

  const secret = force ? undefined : await readSecretFile(secretFile);
  await writeSecretFile(secretFile, secret ?? randomBytes(SECRET_BYTES).toString('hex'));
  tell(secret === undefined ? `Secret made: ${secretFile} (mode 600)` : `Secret kept: ${secretFile}`);

  const variable = textOf(valueOf(variableKey)) ?? '';
  const projectFile = await store.setMany('project', [
    { path: variableKey.split('.'), value: variable },
    { path: channelKey.split('.'), value: undefined },
  ]);
  tell(`Project file names the secret's variable, ${variable}: ${projectFile}`);
  await registerProject(options, valueOf(projectsKey));
  return { channel, replaced: known === channel ? undefined : known, secretFile, variable };
}

async function registerProject(
  {
    files,
    store,
    tell,
  }: { files: ConfigFiles; store: Pick<ConfigStore, 'set'>; tell: (line: string) => void },
  listed: unknown,
): Promise<void> {
  const folders = Array.isArray(listed) ? listed : [];
  const folder = files.project.folder ?? files.project.file.replace(/\/\.(?:svc|claude)\/config\.json$/, '');
  if (folders.includes(folder)) return;
  await store.set('global', projectsKey.split('.'), [...folders, folder]);
  tell(`The daemon of this machine serves the project ${folder}`);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
