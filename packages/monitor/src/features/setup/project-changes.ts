// Turns a person's answers into changes of the project file. A value that is already right is not a change: the same
// answers again leave the file as it is.
import type { Config } from '../config.ts';
import { providerOf } from '../tracker/tracker-of.ts';

export type ProjectAnswers = {
  /** owner/name */
  repository: string;
  projectKey: string;
  tracker: 'linear' | 'github' | undefined;
  /** The tracker team's key, which is the prefix of its tickets. */
  ticketPrefix: string | undefined;
  /** The environment whose deployment makes a ticket done; null if the merge does. */
  environment: string | null;
  /** The team's states for phases whose configured state it does not have. */
  states: Partial<Config['svc']['tracker']['stateMap']>;
};

export type ValueChange = { path: readonly string[]; value: unknown };

export function projectChanges(config: Config, answers: ProjectAnswers): ValueChange[] {
  const { svc } = config;
  const { repository, projectKey, tracker, ticketPrefix, environment } = answers;
  const [org = '', name = ''] = repository.split('/');
  const changes: ValueChange[] = [];
  const want = (path: readonly string[], current: unknown, value: unknown): void => {
    if (current !== value) changes.push({ path: ['svc', ...path], value });
  };
  want(['projectKey'], svc.projectKey, projectKey);
  want(['repository', 'org'], svc.repository.org, org);
  want(['repository', 'name'], svc.repository.name, name);
  const before = providerOf(svc.tracker);
  // Linear is known by its team, so a project file from before needs no change.
  if (tracker === 'github' || before === 'github')
    want(['tracker', 'provider'], svc.tracker.provider, tracker);
  if (ticketPrefix !== undefined) want(['project', 'ticketPrefix'], svc.project.ticketPrefix, ticketPrefix);
  if (ticketPrefix !== undefined && tracker !== 'github')
    want(['tracker', 'teamKey'], svc.tracker.teamKey, ticketPrefix);
  // The cached ids belong to the previous team.
  const isOther = svc.tracker.teamKey !== undefined && svc.tracker.teamKey !== ticketPrefix;
  if (ticketPrefix !== undefined && (isOther || (before !== undefined && before !== tracker))) {
    want(['tracker', 'teamId'], svc.tracker.teamId, null);
    want(['tracker', 'stateIds'], svc.tracker.stateIds, null);
  }
  for (const [phase, state] of Object.entries(answers.states))
    want(['tracker', 'stateMap', phase], svc.tracker.stateMap[phase as keyof typeof answers.states], state);

  const { watchRepos } = svc.monitor.github;
  if (!watchRepos.some((watched) => watched.toLowerCase() === repository.toLowerCase()))
    want(['monitor', 'github', 'watchRepos'], undefined, [...watchRepos, repository]);

  const deploy = svc.deploy[repository];
  const isVerified = deploy?.skipDeployVerification === false;
  if (environment === null) {
    if (isVerified) want(['deploy', repository, 'skipDeployVerification'], false, true);
  } else {
    want(
      ['deploy', repository, 'productionEnvironment'],
      isVerified ? deploy.productionEnvironment : undefined,
      environment,
    );
    want(['deploy', repository, 'skipDeployVerification'], deploy?.skipDeployVerification, false);
  }
  return changes;
}
