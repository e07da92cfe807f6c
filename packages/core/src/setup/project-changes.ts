// From what a person answered to the values of the project file that have to change. What is so already is no
// change: the same answers again leave the file as it is.
import type { Config } from '../config/schema/config.ts';

export type ProjectAnswers = {
  /** owner/name */
  repository: string;
  projectKey: string;
  /** The team of the tracker, which is the prefix of its tickets. */
  ticketPrefix: string | undefined;
  /** Where a deploy makes a ticket done; null when the merge does. */
  environment: string | null;
  /** States of the team for phases whose configured one it does not have. */
  states: Partial<Config['svc']['tracker']['stateMap']>;
};

export type ValueChange = { path: readonly string[]; value: unknown };

export function projectChanges(config: Config, answers: ProjectAnswers): ValueChange[] {
  const { svc } = config;
  const { repository, projectKey, ticketPrefix, environment } = answers;
  const [org = '', name = ''] = repository.split('/');
  const changes: ValueChange[] = [];
  const want = (path: readonly string[], current: unknown, value: unknown): void => {
    if (current !== value) changes.push({ path: ['svc', ...path], value });
  };
  want(['projectKey'], svc.projectKey, projectKey);
  want(['repository', 'org'], svc.repository.org, org);
  want(['repository', 'name'], svc.repository.name, name);
  if (ticketPrefix !== undefined) {
    want(['project', 'ticketPrefix'], svc.project.ticketPrefix, ticketPrefix);
    want(['tracker', 'teamKey'], svc.tracker.teamKey, ticketPrefix);
    // The ids are those of the team before.
    if (svc.tracker.teamKey !== undefined && svc.tracker.teamKey !== ticketPrefix) {
      want(['tracker', 'teamId'], svc.tracker.teamId, null);
      want(['tracker', 'stateIds'], svc.tracker.stateIds, null);
    }
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
