// Sets up the code host's feed on this machine. What is done, in this order, so that a run that fails
// anywhere is finished by the next one:
//   1. The relay channel is in the global file: the known one that may be kept, or a new one. With --force
//      always a new one; with --relay a new one where the known one is at another relay. Its read key, where
//      the relay gave one, is in its file before: a channel whose key is lost could not be read by anybody.
//   2. The secret is in its file, mode 600: kept, or made. With --force always a new one.
//   3. The project file names the variable of the secret, and no longer holds a channel.
//   4. The project is in the list of those that the daemon serves.
import { randomBytes } from 'node:crypto';
import { type ResolvedValue, relayOfChannel } from '@svc/core';
import type { ConfigFiles } from '../config/load.ts';
import type { ConfigStore } from '../config/store.ts';
import { readSecretFile, removeSecretFile, writeSecretFile } from '../disk/secret-file.ts';

const SECRET_BYTES = 32;
const channelKey = 'svc.monitor.github.smeeChannel';
const variableKey = 'svc.monitor.github.webhookSecretEnv';
const projectsKey = 'svc.projects';

/** `readKey` is null where whoever has the URL may read. */
export type ProvisionedChannel = { url: string; readKey: string | null };

export type ChannelSetup = {
  channel: string;
  /** The channel before, when it was replaced: hooks that point to it are to be removed. */
  replaced: string | undefined;
  secretFile: string;
  variable: string;
};

export async function setUpChannel(options: {
  values: readonly ResolvedValue[];
  /** The channel that may be kept. */
  known: string | undefined;
  files: ConfigFiles;
  store: Pick<ConfigStore, 'set' | 'setMany'>;
  secretFile: string;
  readKeyFile: string;
  force: boolean;
  /** The relay that the channel must be at; undefined when any will do. */
  relay: string | undefined;
  provision: () => Promise<ProvisionedChannel>;
  tell: (line: string) => void;
}): Promise<ChannelSetup> {
  const { values, known, store, secretFile, readKeyFile, force, relay, tell } = options;
  const valueOf = (key: string): unknown => values.find((value) => value.key === key)?.value;
  const isNew = force || known === undefined || isElsewhere(known, relay);
  const channel = isNew ? await makeChannel(options.provision, readKeyFile) : known;
  await store.set('global', channelKey.split('.'), channel);
  tell(channel === known ? `Relay channel kept: ${channel}` : `Relay channel made: ${channel}`);
  await tellReadKey(readKeyFile, relay, tell);

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

/** Whether a channel is not at the relay that it must be at. */
export function isElsewhere(channel: string | undefined, relay: string | undefined): boolean {
  return channel !== undefined && relay !== undefined && relayOfChannel(channel) !== relay;
}

/** Makes a channel, and keeps its read key. A key of the channel before must not go to another relay. */
export async function makeChannel(
  provision: () => Promise<ProvisionedChannel>,
  readKeyFile: string,
): Promise<string> {
  const { url, readKey } = await provision();
  if (readKey === null) await removeSecretFile(readKeyFile);
  else await writeSecretFile(readKeyFile, readKey);
  return url;
}

export async function tellReadKey(
  readKeyFile: string,
  relay: string | undefined,
  tell: (line: string) => void,
): Promise<void> {
  if ((await readSecretFile(readKeyFile)) !== undefined) tell(`Read key: ${readKeyFile} (mode 600)`);
  else if (relay !== undefined)
    tell(
      `warning: there is no read key in ${readKeyFile}. If the channel has one, put it there (mode 600); if it is lost, make a new channel: --force`,
    );
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
