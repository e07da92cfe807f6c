// svc setup-webhooks: relay channel, secret, watched repositories, the tracker's webhook

import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { repoKey } from '@svc/contract/repo-name';
import { runCommand } from '@svc/lib/process';
import {
  hereOption,
  openSession,
  refuseStrayProject,
  requireConfig,
  type Session,
} from '../../../cli/kit/session.ts';
import type { Terminal } from '../../../cli/kit/terminal.ts';
import { verb } from '../../../cli/kit/verb.ts';
import { kinds } from '../../../kernel/config/field.ts';
import { relayReadKeyFile, webhookSecretFile } from '../../../kernel/config/locate.ts';
import { committedChannel } from '../../../kernel/config/projects.ts';
import { type ConfigStore, createConfigStore } from '../../../kernel/config/store.ts';
import { readSecretFile } from '../../../kernel/disk/atomic-write.ts';
import { Failure } from '../../../kernel/failure.ts';
import { identifyHost } from '../../../kernel/log/log-entry.ts';
import { createGh } from '../../codehost/gh.ts';
import { createHookApi, hookMemoryFile, openHookMemory, unsubscribe } from '../../codehost/io/hooks.ts';
import { codehostProblemWords } from '../../codehost/problem.ts';
import type { Config } from '../../config.ts';
import { channelUrl, relayOfChannel, relayUrl } from '../../feeds/feed-channel.ts';
import {
  CREATE_KEY_VARIABLE,
  isElsewhere,
  makeChannel,
  otherReaders,
  ownRelayUrl,
  provisionChannel,
  provisionOwnChannel,
  setUpChannel,
  tellReadKey,
} from '../../feeds/io/provision-channel.ts';
import {
  deregisterTrackerWebhook,
  registerTrackerWebhook,
} from '../../tracker/io/linear/register-webhook.ts';
import { requireLinear } from '../../tracker/io/open-tracker.ts';
import { trackerMeans } from '../../tracker/verbs/tracker-means.ts';

type Options = {
  force?: true;
  addRepo?: string[];
  linearSecretEnv?: string;
  linearRegister?: true;
  linearDeregister?: true;
  relay?: string;
  adoptChannel?: string;
  webhookUrl?: string;
  project?: string;
  here?: true;
};

export function setupWebhooksVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('setup-webhooks', {
    summary: 'Set up relay channel, secret and webhooks',
    details: 'Safe to run again: what exists is kept.',
    example: [
      'svc setup-webhooks',
      'svc setup-webhooks --add-repo acme/web --add-repo acme/api',
      'svc setup-webhooks --linear-register',
      'svc setup-webhooks --relay https://relay.example.com',
    ],
  })
    .option('--force', 'replace channel and secret, or the tracker webhook')
    .option('--add-repo <owner/repo...>', 'watch these repositories, and change nothing else')
    .option('--linear-secret-env <name>', 'variable that holds the tracker’s webhook secret')
    .option('--linear-register', 'register the tracker’s webhook')
    .option('--linear-deregister', 'delete the tracker’s webhook')
    .option('--relay <url>', 'create the channel at your own relay (svc-relay)')
    .option('--adopt-channel <url>', 'use this committed channel on this machine')
    .option('--webhook-url <url>', 'deliver tracker webhooks there, not to a relay')
    .option('--project <folder>', 'project folder (default: found from here upwards)')
    .option(...hereOption)
    .action(async (options: Options) => {
      refuseContradictions(options);
      const session = openSession(terminal, options);
      const isTrackerOnly = options.linearRegister === true || options.linearDeregister === true;
      const only = options.addRepo !== undefined || options.linearSecretEnv !== undefined;
      if (only || !isTrackerOnly)
        await refuseStrayProject(terminal, (await session.load()).files, options.here === true);
      if (options.addRepo) await addRepos(terminal, session, options.addRepo);
      if (options.linearSecretEnv !== undefined)
        await nameTrackerSecret(terminal, session, options.linearSecretEnv);
      if (options.linearDeregister) return deregister(terminal, session);
      if (options.linearRegister) return registerTrackerFeed(terminal, session, options);
      if (!only || options.force || options.relay !== undefined || options.adoptChannel !== undefined)
        await setUpCodehostFeed(terminal, session, options);
    });
}

function refuseContradictions(options: Options): void {
  if (options.linearRegister && options.linearDeregister) {
    throw new Failure('usage', '--linear-register and --linear-deregister cannot be used together.');
  }
  if (options.webhookUrl !== undefined && !options.linearRegister) {
    throw new Failure('usage', '--webhook-url needs --linear-register.');
  }
  if (options.adoptChannel !== undefined && (options.force || options.relay !== undefined)) {
    throw new Failure('usage', '--adopt-channel cannot be used with --force or --relay.');
  }
  if (options.relay !== undefined && (options.webhookUrl !== undefined || options.linearDeregister)) {
    throw new Failure('usage', '--relay cannot be used with --webhook-url or --linear-deregister.');
  }
}

async function addRepos(terminal: Terminal, session: Session, repos: readonly string[]): Promise<void> {
  const wrong = repos.find((repo) => !kinds.repo.schema.safeParse(repo).success);
  if (wrong !== undefined) throw new Failure('usage', `--add-repo: expected owner/repo, found ${wrong}.`);
  const { config, files } = await requireConfig(terminal, session);
  const watched = config.svc.monitor.github.watchRepos;
  const added = notIn(watched, repos);
  const store = createConfigStore({ locks: session.locks, files });
  // Allows a hook to be created there; repeating it changes nothing.
  await store.update('global', ['svc', 'monitor', 'github', 'hookRepos'], (current) => {
    const confirmed = Array.isArray(current) ? current.map(String) : [];
    const more = notIn(confirmed, repos);
    return more.length === 0 ? current : [...confirmed, ...more];
  });
  await allowHooks(store, config, repos);
  if (added.length === 0) return terminal.out(`Already watched: ${repos.join(', ')}`);
  const file = await store.set('project', ['svc', 'monitor', 'github', 'watchRepos'], [...watched, ...added]);
  terminal.out(`Now watched: ${added.join(', ')} (${file})`);
}

const pollKey = ['svc', 'monitor', 'github', 'pollRepos'];

/** Takes repositories off the list of those that are only polled. */
async function allowHooks(
  store: Pick<ConfigStore, 'set' | 'unset'>,
  config: Config,
  repos: readonly string[],
): Promise<void> {
  const polled = config.svc.monitor.github.pollRepos;
  const left = notIn(repos, polled);
  if (left.length === polled.length) return;
  if (left.length === 0) await store.unset('global', pollKey);
  else await store.set('global', pollKey, left);
}

/** No webhook of the repository from now on; the one that svc created is removed. Returns whether that is new. */
export async function pollOnly(terminal: Terminal, session: Session, repo: string): Promise<boolean> {
  const { config, files } = await requireConfig(terminal, session);
  const { pollRepos, smeeChannel } = config.svc.monitor.github;
  if (notIn(pollRepos, [repo]).length === 0) return false;
  const store = createConfigStore({ locks: session.locks, files });
  await store.set('global', pollKey, [...pollRepos, repo]);
  const memory = await openHookMemory(hookMemoryFile(session.machine.dataDir));
  if (smeeChannel !== undefined && memory.repos().includes(repoKey(repo)))
    await removeHooks(terminal, smeeChannel, [repo]);
  return true;
}

function notIn(known: readonly string[], repos: readonly string[]): string[] {
  const keys = new Set(known.map(repoKey));
  return [...new Set(repos)].filter((repo) => !keys.has(repoKey(repo)));
}

async function nameTrackerSecret(terminal: Terminal, session: Session, name: string): Promise<void> {
  if (!kinds.secretName.schema.safeParse(name).success) {
    throw new Failure('usage', `--linear-secret-env: expected ${kinds.secretName.expects}.`);
  }
  const { files } = await requireConfig(terminal, session);
  const store = createConfigStore({ locks: session.locks, files });
  const file = await store.set('project', ['svc', 'monitor', 'linear', 'webhookSecretEnv'], name);
  terminal.out(`The tracker's secret is read from ${name} (${file})`);
}

/** Relay channel, secret, and the project's entry at the daemon. */
export async function setUpCodehostFeed(
  terminal: Terminal,
  session: Session,
  options: Pick<Options, 'force' | 'relay' | 'adoptChannel'>,
): Promise<void> {
  const loaded = await requireConfig(terminal, session);
  const { configDir } = session.machine;
  const readKeyFile = relayReadKeyFile(configDir, 'codehost');
  const channel = channelToKeep(terminal, session, loaded, options.adoptChannel);
  const relay = await relayFor(options.relay, channel, readKeyFile);
  const keyBefore = await readSecretFile(readKeyFile);
  const store = createConfigStore({ locks: session.locks, files: loaded.files });
  const { org, name } = loaded.config.svc.repository;
  await allowHooks(store, loaded.config, [`${org}/${name}`]);
  const done = await setUpChannel({
    ...loaded,
    known: channel,
    store,
    secretFile: webhookSecretFile(configDir, 'codehost'),
    readKeyFile,
    force: options.force === true,
    relay,
    provision: provisionAt(terminal, session, relay),
    tell: terminal.out,
  });
  if (done.replaced !== undefined) {
    await warnOtherReaders(terminal, session, done.replaced, keyBefore);
    await removeOldHooks(terminal, session, loaded.config, done.replaced);
  }
  terminal.out(`Done. Apply it: svc monitor restart (it reads ${done.variable} from the secret file)`);
}

/**
 * The channel of the user's own file, otherwise the one that an earlier version left in the project file. Someone else may
 * have committed that one, so it is used without asking only if it is at the relay that this machine uses anyway.
 */
function channelToKeep(
  terminal: Terminal,
  { machine }: Session,
  loaded: Awaited<ReturnType<typeof requireConfig>>,
  adopted: string | undefined,
): string | undefined {
  const channel = loaded.config.svc.monitor.github.smeeChannel;
  const committed = committedChannel(loaded);
  if (adopted !== undefined && (committed === undefined || channelUrl(adopted) !== channelUrl(committed)))
    throw new Failure('usage', '--adopt-channel: this channel is not in the project file.');
  if (committed === undefined) return channel;
  const { file } = loaded.files.project;
  if (adopted === undefined && relayOfChannel(committed) !== relayUrl(machine.relayUrl)) {
    terminal.err(
      `warning: the channel in ${file} is at another relay than this machine uses, so it is ignored. If it is yours: svc setup-webhooks --adopt-channel ${committed}`,
    );
    return undefined;
  }
  terminal.err(
    `warning: the channel of ${file} is now used for all projects of this machine. Anyone who can read that file can send to it, and at a public relay also read it. For a new one: svc setup-webhooks --force`,
  );
  return committed;
}

/** The self-hosted relay of the channel: the given one, otherwise that of a channel with a read key. */
async function relayFor(
  named: string | undefined,
  channel: string | undefined,
  readKeyFile: string,
): Promise<string | undefined> {
  if (named !== undefined) return ownRelayUrl(named);
  const hasKey = (await readSecretFile(readKeyFile)) !== undefined;
  return hasKey && channel !== undefined ? relayOfChannel(channel) : undefined;
}

function provisionAt(terminal: Terminal, { machine }: Session, relay: string | undefined) {
  const createKey = terminal.environment[CREATE_KEY_VARIABLE] || undefined;
  return relay === undefined
    ? () => provisionChannel(machine.relayUrl, fetch)
    : () => provisionOwnChannel(relay, { post: fetch, createKey });
}

/** The whole team may use the old channel. */
async function warnOtherReaders(
  terminal: Terminal,
  { machine }: Session,
  channel: string,
  readKey: string | undefined,
): Promise<void> {
  if (readKey === undefined) return;
  const { id: hostId } = await identifyHost(machine.dataDir);
  const others = await otherReaders(channel, { readKey, hostId, get: fetch });
  if (others === undefined || others === 0) return;
  const machines = others === 1 ? '1 other machine reads' : `${others} other machines read`;
  terminal.err(
    `warning: ${machines} the old channel, which receives nothing any more. Give them the new address, read key and secret.`,
  );
}

/**
 * Old hooks would keep sending to a channel that anyone with its address can read. They are at the watched repositories
 * and at all others where the daemon created one: those of other projects, and those found in signal files.
 */
async function removeOldHooks(
  terminal: Terminal,
  { machine }: Session,
  config: Config,
  channel: string,
): Promise<void> {
  const hooked = (await openHookMemory(hookMemoryFile(machine.dataDir))).repos();
  const watched = config.svc.monitor.github.watchRepos;
  const repos = new Map([...hooked, ...watched].map((repo) => [repoKey(repo), repo])).values();
  await removeHooks(terminal, channel, [...repos]);
}

async function removeHooks(terminal: Terminal, channel: string, repos: readonly string[]): Promise<void> {
  const now = (): number => terminal.now().getTime();
  const gh = createGh({
    environment: terminal.environment,
    run: runCommand,
    now,
    signal: terminal.interrupted,
  });
  for (const { repo, removed, problem } of await unsubscribe(createHookApi(gh), channel, repos)) {
    if (problem === null) terminal.out(`Old hooks removed at ${repo}: ${removed}`);
    else {
      const { why, remedy } = codehostProblemWords(problem);
      terminal.err(`warning: ${repo} may still have a hook to the channel: ${why}. ${remedy}`);
    }
  }
}

/** The tracker's webhook with its relay channel and secret. */
export async function registerTrackerFeed(
  terminal: Terminal,
  session: Session,
  options: Pick<Options, 'force' | 'relay' | 'webhookUrl'>,
): Promise<void> {
  const loaded = await requireConfig(terminal, session);
  const readKeyFile = relayReadKeyFile(session.machine.configDir, 'tracker');
  const channel = loaded.config.svc.monitor.linear.smeeChannel;
  const relay = await relayFor(options.relay, channel, readKeyFile);
  await registerTrackerWebhook({
    config: loaded.config,
    webhookUrl: options.webhookUrl,
    force: options.force === true,
    newChannel: isElsewhere(channel, relay),
    ...(await trackerParts(terminal, session, loaded)),
    provisionChannel: () => makeChannel(provisionAt(terminal, session, relay), readKeyFile),
    clock: { now: () => terminal.now().getTime() },
  });
  if (relay !== undefined) await tellReadKey(readKeyFile, relay, terminal.out);
  terminal.out('Done. Apply it: svc monitor restart');
}

async function deregister(terminal: Terminal, session: Session): Promise<void> {
  const loaded = await requireConfig(terminal, session);
  await deregisterTrackerWebhook({
    config: loaded.config,
    ...(await trackerParts(terminal, session, loaded)),
  });
}

async function trackerParts(
  terminal: Terminal,
  session: Session,
  loaded: Awaited<ReturnType<typeof requireConfig>>,
) {
  const { machine, locks } = session;
  return {
    connect: () => requireLinear(loaded, trackerMeans(terminal, machine)),
    store: createConfigStore({ locks, files: loaded.files }),
    secretFile: webhookSecretFile(machine.configDir, 'tracker'),
    tell: terminal.out,
  };
}
