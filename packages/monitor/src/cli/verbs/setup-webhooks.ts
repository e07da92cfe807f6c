// svc setup-webhooks: relay channel, secret, watched repositories, the tracker's webhook

import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { type Config, codehostProblemWords, kinds } from '@svc/core';
import { createGh } from '../../codehost/gh.ts';
import { createHookApi } from '../../codehost/hooks.ts';
import { runCommand } from '../../codehost/run-command.ts';
import { unsubscribe } from '../../codehost/unsubscribe.ts';
import { webhookSecretFile } from '../../config/locate.ts';
import { createConfigStore } from '../../config/store.ts';
import { Failure } from '../../errors.ts';
import { deregisterTrackerWebhook } from '../../tracker/deregister-webhook.ts';
import { openTracker } from '../../tracker/open-tracker.ts';
import { registerTrackerWebhook } from '../../tracker/register-webhook.ts';
import { setUpChannel } from '../../tunnel/channel-setup.ts';
import { provisionChannel } from '../../tunnel/provision-channel.ts';
import { openSession, requireConfig, type Session } from '../session.ts';
import type { Terminal } from '../terminal.ts';
import { verb } from '../verb.ts';

type Options = {
  force?: true;
  addRepo?: string[];
  linearSecretEnv?: string;
  linearRegister?: true;
  linearDeregister?: true;
  webhookUrl?: string;
  project?: string;
};

export function setupWebhooksVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('setup-webhooks', {
    summary:
      'Set up relay channel, secret, watched repositories and the tracker’s webhook; safe to run again',
    example: [
      'setup-webhooks.sh',
      'setup-webhooks.sh --add-repo acme/web --add-repo acme/api',
      'setup-webhooks.sh --linear-register',
    ],
  })
    .option('--force', 'rotate the channel and the secret, or replace the tracker’s webhook')
    .option('--add-repo <owner/repo...>', 'watch a repository; alone it changes nothing else')
    .option('--linear-secret-env <name>', 'name of the variable that holds the tracker’s secret')
    .option('--linear-register', 'register the tracker’s webhook')
    .option('--linear-deregister', 'delete the tracker’s webhook and forget it')
    .option('--webhook-url <url>', 'with --linear-register: deliver there, not to a relay channel')
    .option('--project <folder>', 'the project (default: found from the current folder upwards)')
    .action(async (options: Options) => {
      refuseContradictions(options);
      const session = openSession(terminal, options);
      if (options.addRepo) await addRepos(terminal, session, options.addRepo);
      if (options.linearSecretEnv !== undefined)
        await nameTrackerSecret(terminal, session, options.linearSecretEnv);
      if (options.linearDeregister) return deregister(terminal, session);
      if (options.linearRegister) return register(terminal, session, options);
      const only = options.addRepo !== undefined || options.linearSecretEnv !== undefined;
      if (!only || options.force) await setUp(terminal, session, options.force === true);
    });
}

function refuseContradictions(options: Options): void {
  if (options.linearRegister && options.linearDeregister) {
    throw new Failure('usage', '--linear-register and --linear-deregister exclude each other.');
  }
  if (options.webhookUrl !== undefined && !options.linearRegister) {
    throw new Failure('usage', '--webhook-url goes with --linear-register.');
  }
}

async function addRepos(terminal: Terminal, session: Session, repos: readonly string[]): Promise<void> {
  const wrong = repos.find((repo) => !kinds.repo.schema.safeParse(repo).success);
  if (wrong !== undefined) throw new Failure('usage', `--add-repo: expected owner/repo, found ${wrong}.`);
  const { config, files } = await requireConfig(terminal, session);
  const watched = config.svc.monitor.github.watchRepos;
  const known = new Set(watched.map((repo) => repo.toLowerCase()));
  const added = [...new Set(repos)].filter((repo) => !known.has(repo.toLowerCase()));
  if (added.length === 0) return terminal.out(`Already watched: ${repos.join(', ')}`);
  const store = createConfigStore({ locks: session.locks, files });
  const file = await store.set('project', ['svc', 'monitor', 'github', 'watchRepos'], [...watched, ...added]);
  terminal.out(`Now watched: ${added.join(', ')} (${file})`);
}

async function nameTrackerSecret(terminal: Terminal, session: Session, name: string): Promise<void> {
  if (!kinds.environmentName.schema.safeParse(name).success) {
    throw new Failure('usage', `--linear-secret-env: expected ${kinds.environmentName.expects}.`);
  }
  const { files } = await requireConfig(terminal, session);
  const store = createConfigStore({ locks: session.locks, files });
  const file = await store.set('project', ['svc', 'monitor', 'linear', 'webhookSecretEnv'], name);
  terminal.out(`The tracker's secret is read from ${name} (${file})`);
}

async function setUp(terminal: Terminal, session: Session, force: boolean): Promise<void> {
  const loaded = await requireConfig(terminal, session);
  const done = await setUpChannel({
    ...loaded,
    store: createConfigStore({ locks: session.locks, files: loaded.files }),
    secretFile: webhookSecretFile(session.machine.configDir, 'codehost'),
    force,
    provision: () => provisionChannel(session.machine.relayUrl, fetch),
    tell: terminal.out,
  });
  if (done.replaced !== undefined) await removeOldHooks(terminal, loaded.config, done.replaced);
  terminal.out(
    `Done. Take it into use: svc-monitor.sh restart (it fills ${done.variable} from the secret file)`,
  );
}

/** Hooks of the channel before would go on sending to a mailbox that anybody with its address can read. */
async function removeOldHooks(terminal: Terminal, config: Config, channel: string): Promise<void> {
  const { watchRepos } = config.svc.monitor.github;
  const now = (): number => terminal.now().getTime();
  const gh = createGh({
    environment: terminal.environment,
    run: runCommand,
    now,
    signal: terminal.interrupted,
  });
  for (const { repo, removed, problem } of await unsubscribe(createHookApi(gh), channel, watchRepos)) {
    if (problem === null) terminal.out(`Old hooks removed at ${repo}: ${removed}`);
    else {
      const { why, remedy } = codehostProblemWords(problem);
      terminal.err(`warning: ${repo} may still have a hook of the old channel: ${why}. ${remedy}`);
    }
  }
}

async function register(terminal: Terminal, session: Session, options: Options): Promise<void> {
  const loaded = await requireConfig(terminal, session);
  await registerTrackerWebhook({
    config: loaded.config,
    webhookUrl: options.webhookUrl,
    force: options.force === true,
    ...(await trackerParts(terminal, session, loaded)),
    provisionChannel: () => provisionChannel(session.machine.relayUrl, fetch),
    clock: { now: () => terminal.now().getTime() },
  });
  terminal.out('Done. Take it into use: svc-monitor.sh restart');
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
    connect: () =>
      openTracker({
        ...loaded,
        apiUrl: machine.trackerApiUrl,
        fetch,
        clock: { now: () => terminal.now().getTime() },
        signal: terminal.interrupted,
      }),
    store: createConfigStore({ locks, files: loaded.files }),
    secretFile: webhookSecretFile(machine.configDir, 'tracker'),
    tell: terminal.out,
  };
}
