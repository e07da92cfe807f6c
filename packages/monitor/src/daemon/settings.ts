// The configuration that the daemon uses: kept up to date, with its problems logged and the webhook secrets resolved.
import type { Logger } from 'pino';
import type { Config } from '../features/config.ts';
import { openLiveConfig } from '../features/configure.ts';
import type { PolicyFacts } from '../features/deploy/policy.ts';
import { policyProblems } from '../features/deploy/policy-view.ts';
import { readSecrets, type Secrets } from '../features/feeds/io/feed.ts';
import type { CommandAllowances } from '../features/team/command.ts';
import type { StateFollower } from '../kernel/board/state-follower.ts';
import type { Machine } from '../kernel/config/environment.ts';
import type { LiveConfig } from '../kernel/config/live.ts';
import { globalFile } from '../kernel/config/locate.ts';
import { type ConfigProblem, formatProblem } from '../kernel/config/problems.ts';
import type { Environment } from '../kernel/config/resolved-value.ts';
import type { EventDraft } from '../kernel/log/event-line.ts';

export type Settings = {
  live: LiveConfig;
  /** One for each served project. */
  configs: () => Config[];
  /** The values of the global file. */
  machineWide: () => Config;
  /** What members of the team may do here: nothing while it cannot be read, whatever was allowed before. */
  teamAllow: () => CommandAllowances;
  /** Whether titles of tickets are shared with the team: false while it cannot be read. */
  shareTitles: () => boolean;
  secrets: () => Secrets;
  /** A relay channel that is set only in a committed file. */
  committedChannel: () => string | undefined;
  /** The served folders, and what is wrong with the files, and with projects that are no longer served. */
  report: (board: PolicyFacts) => { folders: string[]; problems: ConfigProblem[] };
  /** Logs the configuration, and which projects of the board are no longer served. */
  start: (append: (draft: EventDraft) => Promise<unknown>, state: StateFollower) => Promise<void>;
  /** Call it after each change, before any part is reconfigured. */
  applyChange: () => void;
};

export async function openSettings(options: {
  machine: Machine;
  environment: Environment;
  folder: string;
  logger: Logger;
}): Promise<Settings> {
  const { machine, environment, folder, logger } = options;
  const live = await openLiveConfig({
    machine,
    environment,
    folder,
    onFailure: (error) => logger.error({ err: error }, 'a change of the configuration could not be applied'),
  });
  const configs = (): Config[] => live.current().configs;
  let secrets = readSecrets(configs(), environment);
  /** Each problem is logged when it appears, not again at every change. */
  let logged = new Set<string>();
  function logProblems(): void {
    const problems = new Set(live.current().problems.map(formatProblem));
    for (const problem of problems) if (!logged.has(problem)) logger.warn({ problem }, 'configuration');
    logged = problems;
  }
  logProblems();
  /** What a person has chosen for the team; undefined while their file cannot be read. */
  function knownTeam(key: string): Config['svc']['team'] | undefined {
    const { started } = live.current();
    const { source, uncertain = false } = started.values.find((value) => value.key === key) ?? {};
    const isKnown = !uncertain && (source?.kind === 'file' || source?.kind === 'default');
    return isKnown ? started.usable.svc.team : undefined;
  }
  return {
    live,
    configs,
    machineWide: () => live.current().machineWide,
    teamAllow: () => knownTeam('svc.team.allow')?.allow ?? {},
    shareTitles: () => knownTeam('svc.team.shareTitles')?.shareTitles === true,
    secrets: () => secrets,
    committedChannel: () => live.current().committedChannel,
    report(board) {
      const { folders, problems } = live.current();
      return { folders, problems: [...problems, ...policyProblems(board, globalFile(machine))] };
    },
    async start(append, state) {
      await live.start(append);
      // Which projects were served before is known only after the log has been read.
      state.ready
        .then(() => live.compareWith(state.board().projects.keys()))
        .catch((error: unknown) => logger.error({ err: error }, 'the projects served before are not known'));
    },
    applyChange() {
      secrets = readSecrets(configs(), environment);
      logProblems();
    },
  };
}
