// What svc has made elsewhere: hooks at the code host, the webhook at the tracker, the membership in a team, and the relay
// channels that this machine reads. A hook that other machines use stays.

import { repoKey, repoNameIn } from '@svc/contract/repo-name';
import { runCommand } from '@svc/lib/process';
import { connectDaemon } from '../../../cli/kit/daemon-client.ts';
import { counted, plainText } from '../../../cli/kit/text.ts';
import { relayReadKeyFile, webhookSecretFile } from '../../../kernel/config/locate.ts';
import type { Projects } from '../../../kernel/config/projects.ts';
import { createConfigStore } from '../../../kernel/config/store.ts';
import { readSecretFile, removeSecretFile } from '../../../kernel/disk/atomic-write.ts';
import { Failure } from '../../../kernel/failure.ts';
import { identifyHost } from '../../../kernel/log/log-entry.ts';
import { createGh } from '../../codehost/gh.ts';
import { createHookApi, hookMemoryFile, openHookMemory, unsubscribe } from '../../codehost/io/hooks.ts';
import { codehostProblemWords } from '../../codehost/problem.ts';
import type { Config } from '../../config.ts';
import { otherReaders } from '../../feeds/io/provision-channel.ts';
import { readTeamFile, removeTeamFile } from '../../team/io/team-file.ts';
import { deregisterTrackerWebhook } from '../../tracker/io/linear/register-webhook.ts';
import { requireLinear } from '../../tracker/io/open-tracker.ts';
import { registrationIn } from '../../tracker/registration.ts';
import { trackerMeans } from '../../tracker/verbs/tracker-means.ts';
import { AGAIN, type Item, type Leaving, type Left, orLeft, type Part } from './part.ts';

const nothing: Part = { items: [], act: async () => [] };
const kept = (item: Omit<Item, 'action'>): Part => ({ ...nothing, items: [{ action: 'keep', ...item }] });

/** The daemon leaves the team: it must still be running. */
export async function teamPart({ session }: Leaving): Promise<Part> {
  const { machine } = session;
  const file = await readTeamFile(machine.configDir).catch((error: unknown) => {
    if (error instanceof Failure) return 'unreadable' as const;
    throw error;
  });
  if (file === undefined) return nothing;
  const daemon = await connectDaemon(machine);
  const status = (await daemon?.get('/api/team'))?.team ?? null;
  const isLive = status?.state === 'live';
  const name = plainText(status?.name ?? 'the team');
  const own = plainText(file === 'unreadable' ? 'this machine' : file.machine);
  const why = isLive
    ? 'its keys here, and what this machine published at the relay'
    : 'its keys here. The relay does not answer the daemon now, so the others see this machine until the administrator removes it';
  return {
    items: [{ action: 'remove', what: `the membership of ${own} in ${name}`, why }],
    async act({ done }) {
      const failed = await orLeft(`the membership of ${own} in ${name}`, async () => {
        if (daemon === undefined) await removeTeamFile(machine.configDir);
        else await daemon.post('/api/team/leave', { body: {} });
        done(`Left ${name}`);
      });
      if (failed.length > 0 || isLive) return failed;
      return [
        {
          what: `${own} in the list of the team`,
          why: daemon === undefined ? 'the daemon was not running' : 'the relay was not reached',
          command: `At the administrator's machine: svc team remove ${own}`,
          again: false,
        },
      ];
    },
  };
}

/** Why a channel of our own relay stays: other machines read it, or nobody knows whether they do. */
async function whyShared(
  { terminal, session }: Leaving,
  feed: 'codehost' | 'tracker',
  { smeeChannel: channel, relayReadKeyEnv }: { smeeChannel?: string | undefined; relayReadKeyEnv: string },
): Promise<string | undefined> {
  const { configDir, dataDir } = session.machine;
  const readKey =
    terminal.environment[relayReadKeyEnv] || (await readSecretFile(relayReadKeyFile(configDir, feed)));
  // A public relay has no key, and does not report who reads.
  if (readKey === undefined || channel === undefined) return undefined;
  const { id: hostId } = await identifyHost(dataDir);
  const readers = await otherReaders(channel, { readKey, hostId, get: fetch });
  if (readers === undefined) return 'the relay does not answer whether other machines read this channel';
  return readers === 0 ? undefined : `it is read by ${counted(readers, 'other machine')}`;
}

export async function codehostPart(leaving: Leaving, projects: Projects): Promise<Part> {
  const { terminal, session } = leaving;
  const channel = projects.machineWide.svc.monitor.github.smeeChannel;
  if (channel === undefined) return nothing;
  const hooked = (await openHookMemory(hookMemoryFile(session.machine.dataDir))).repos();
  const watched = projects.configs.flatMap(({ svc }) => svc.monitor.github.watchRepos);
  const byKey = new Map([...hooked, ...watched].map((repo) => [repoKey(repo), repo]));
  const repos = [...byKey.values()].filter((repo) => repoNameIn(repo) !== undefined);
  if (repos.length === 0) return nothing;
  const what = (repo: string): string => plainText(`the webhook of ${repo} to ${channel}`);
  const shared = await whyShared(leaving, 'codehost', projects.machineWide.svc.monitor.github);
  if (shared !== undefined)
    return kept({
      what: `the webhooks to ${channel}`,
      why: shared,
      command: `Delete them in the settings of ${repos.join(', ')}`,
    });
  if (projects.committedChannel === channel)
    return kept({
      what: `the webhooks to ${channel}`,
      why: 'the channel is in a committed project file, so other machines may read it',
      command: `Delete them in the settings of ${repos.join(', ')}`,
    });
  return {
    items: repos.map((repo) => ({ action: 'remove', what: what(repo), why: 'svc created it' })),
    async act({ done }) {
      const gh = createGh({
        environment: terminal.environment,
        run: runCommand,
        now: () => terminal.now().getTime(),
        signal: terminal.interrupted,
      });
      const left: Left[] = [];
      for (const { repo, removed, problem } of await unsubscribe(createHookApi(gh), channel, repos)) {
        if (removed > 0) done(`Removed ${what(repo)}`);
        if (problem === null || problem.kind === 'repo-gone') continue;
        // Where svc never had a hook, there is none to remove.
        const isHooked = hooked.some((one) => repoKey(one) === repoKey(repo));
        if (problem.kind === 'no-admin' && !isHooked) continue;
        const { why, remedy } = codehostProblemWords(problem);
        left.push({ what: what(repo), why, command: `${remedy} Then: ${AGAIN}`, again: true });
      }
      return left;
    },
  };
}

export async function trackerPart(leaving: Leaving, projects: Projects): Promise<Part> {
  const { terminal, session } = leaving;
  const record = registrationIn(projects.machineWide);
  if (record === undefined) return nothing;
  const what = `the webhook ${record.webhookId} of the tracker`;
  const { linear } = projects.machineWide.svc.monitor;
  const { resourceTypes } = linear;
  const shared = await whyShared(leaving, 'tracker', linear);
  const command = 'Delete it in the settings of the tracker if nobody else needs it';
  if (shared !== undefined) return kept({ what, why: shared, command });
  if (resourceTypes === undefined || resourceTypes.length === 0)
    return kept({ what, why: 'svc found it at the tracker and did not create it', command });
  return {
    items: [{ action: 'remove', what, why: 'svc created it' }],
    act: ({ done }) =>
      orLeft(what, async () => {
        const { machine, locks } = session;
        // The token is in the settings of a project.
        const project =
          projects.projects.find(({ usable }) => typeof usable.svc.tracker.apiToken === 'string') ??
          projects.started;
        await deregisterTrackerWebhook({
          config: projects.machineWide,
          connect: () =>
            requireLinear({ config: project.usable, files: project.files }, trackerMeans(terminal, machine)),
          store: createConfigStore({ locks, files: projects.started.files }),
          secretFile: webhookSecretFile(machine.configDir, 'tracker'),
          tell: () => undefined,
        });
        done(`Removed ${what}`);
      }),
  };
}

/** With the configuration itself kept. */
export async function relayPart(
  { session, keepData }: Leaving,
  { machineWide, started }: Projects,
): Promise<Part> {
  const { configDir } = session.machine;
  const { github, linear } = machineWide.svc.monitor;
  const secrets = (['codehost', 'tracker'] as const).flatMap((feed) => [
    webhookSecretFile(configDir, feed),
    relayReadKeyFile(configDir, feed),
  ]);
  const there: string[] = [];
  for (const file of secrets) if ((await readSecretFile(file)) !== undefined) there.push(file);
  const channels = channelsIn(github, linear);
  if (!keepData || (channels.length === 0 && there.length === 0)) return nothing;
  return {
    items: [
      {
        action: 'remove',
        what: 'the relay channels and webhook secrets of this machine',
        why: 'nothing is delivered any more; svc setup-webhooks makes new ones',
      },
    ],
    async act({ done }) {
      await createConfigStore({ locks: session.locks, files: started.files }).setMany(
        'global',
        channels.map((path) => ({ path, value: undefined })),
      );
      for (const file of there) await removeSecretFile(file);
      done('Removed the relay channels and webhook secrets of this machine');
      return [];
    },
  };
}

type Monitor = Config['svc']['monitor'];

function channelsIn(github: Monitor['github'], linear: Monitor['linear']): string[][] {
  return [
    ...(github.smeeChannel === undefined ? [] : [['svc', 'monitor', 'github', 'smeeChannel']]),
    ...(linear.smeeChannel === undefined ? [] : [['svc', 'monitor', 'linear', 'smeeChannel']]),
  ];
}
