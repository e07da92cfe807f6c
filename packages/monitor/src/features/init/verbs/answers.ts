// The questions, in order: repository, project key, tracker (for Linear also token and team), deploy environment, and how
// deliveries may travel. Each
// suggests the configured value, otherwise the detected one. An answer comes from its flag, from the suggestion (--yes) or from the
// user, and is checked at once: a wrong one is explained and asked again, or, without a terminal, ends the command before
// anything is written.

import { plainText } from '../../../cli/kit/text.ts';
import { kinds } from '../../../kernel/config/field.ts';
import { Failure } from '../../../kernel/failure.ts';
import type { Config } from '../../config.ts';
import { environmentSlip, fittingStates, productionAmong, projectKeyFor } from '../../setup/detect.ts';
import type { ProjectAnswers } from '../../setup/project-changes.ts';
import { DEFAULT_PREFIX, providerOf, ticketPrefixOf } from '../../tracker/tracker-of.ts';
import { type AskingDeliveries, askDeliveries, type Deliveries } from './deliveries.ts';
import type { Checkout, Lookups } from './lookups.ts';
import type { CheckForm, Prompter } from './prompter.ts';

/** The answer, also as a flag, that a merge alone makes a ticket done. */
const NO_ENVIRONMENT = 'none';
const ticketPrefixForm = /^[A-Za-z][A-Za-z0-9]{0,19}$/;

type GivenAnswers = {
  repo?: string | undefined;
  projectKey?: string | undefined;
  tracker?: string | undefined;
  /** From a file or standard input. */
  token?: string | undefined;
  team?: string | undefined;
  ticketPrefix?: string | undefined;
  environment?: string | undefined;
  deliveries?: AskingDeliveries['given'];
};

export type Answers = ProjectAnswers & {
  token: { value: string; isNew: boolean } | undefined;
  deliveries: Deliveries;
};

export type Asking = {
  given: GivenAnswers;
  config: Config;
  checkout: Checkout;
  /** The token that a project of that key would use. */
  storedToken: (projectKey: string) => Promise<string | undefined>;
  /** Ticket prefixes of other projects on this machine, in capitals. */
  otherPrefixes: ReadonlySet<string>;
  /** How this machine gets deliveries now. */
  relays: Pick<AskingDeliveries, 'publicRelay' | 'hasReadKey' | 'isHooked'>;
  lookups: Lookups;
  /** Undefined without questions: suggestions are used. */
  prompter: Prompter | undefined;
  warn: (line: string) => void;
};

export async function collectAnswers(asking: Asking): Promise<Answers> {
  const repository = await askRepository(asking);
  const projectKey = await askProjectKey(asking, repository);
  const stored = await asking.storedToken(projectKey);
  const tracker = await askTracker(asking, repository, stored);
  const { token, teams } = tracker === 'linear' ? await askToken(asking, stored) : noToken;
  const ticketPrefix =
    tracker === 'github' ? await issuePrefix(asking, projectKey) : await askTeam(asking, teams);
  const environment = await askEnvironment(asking, repository);
  const deliveries = await askDeliveries({
    ...asking.relays,
    repository,
    config: asking.config,
    given: asking.given.deliveries,
    visibility: () => asking.lookups.visibility(repository),
    prompter: asking.prompter,
  });
  const states =
    token === undefined || ticketPrefix === undefined
      ? []
      : await asking.lookups.states(token.value, ticketPrefix);
  return {
    repository,
    projectKey,
    tracker: tracker === 'none' ? undefined : tracker,
    token,
    ticketPrefix,
    environment,
    deliveries,
    states: fittingStates(asking.config.svc.tracker.stateMap, states),
  };
}

type Question = {
  flag: string;
  given: string | undefined;
  message: string;
  suggested: string | undefined;
  /** The error with --yes when there is no suggestion. */
  missing: string;
  form: CheckForm;
  /** The slower check, which asks a service. Returns the problem, or undefined. */
  check?: (answer: string) => Promise<string | undefined>;
};

async function settle({ prompter }: Asking, question: Question): Promise<string> {
  const { flag, given, suggested, form, check } = question;
  if (given !== undefined || prompter === undefined) {
    const answer = given ?? suggested;
    if (answer === undefined) throw new Failure('usage', question.missing, `Pass it: svc init ${flag} <…>`);
    const problem = form(answer) ?? (await check?.(answer));
    if (problem === undefined) return answer;
    throw new Failure('usage', given === undefined ? problem : `${flag}: ${problem}`);
  }
  for (;;) {
    const answer = await prompter.text({ message: question.message, suggested, check: form });
    const problem = await check?.(answer);
    if (problem === undefined) return answer;
    prompter.say(plainText(problem));
  }
}

function expects(kind: { schema: { safeParse: (value: unknown) => { success: boolean } }; expects: string }) {
  return (answer: string): string | undefined =>
    kind.schema.safeParse(answer).success ? undefined : `Expected ${kind.expects}.`;
}

async function askRepository(asking: Asking): Promise<string> {
  const { config, checkout, lookups, given, warn } = asking;
  const { org, name } = config.svc.repository;
  const configured = org === undefined || name === undefined ? undefined : `${org}/${name}`;
  return settle(asking, {
    flag: '--repo',
    given: given.repo,
    message: 'Repository at the code host (owner/name)',
    suggested: configured ?? checkout.repository,
    missing: 'The repository cannot be detected: no git remote points to the code host.',
    form: expects(kinds.repo),
    async check(repository) {
      const checked = await lookups.repository(repository);
      if (!checked.ok) return checked.problem;
      if (checked.warning !== undefined) warn(checked.warning);
      return undefined;
    },
  });
}

async function askProjectKey(asking: Asking, repository: string): Promise<string> {
  return settle(asking, {
    flag: '--project-key',
    given: asking.given.projectKey,
    message: 'Key of the project: names its secrets file, config-<key>.json',
    suggested: asking.config.svc.projectKey ?? projectKeyFor(repository),
    missing: 'The project key cannot be detected.',
    form: expects(kinds.key),
  });
}

const trackers = ['github', 'linear', 'none'] as const;

/** Not asked if a token or the configuration decides it. */
async function askTracker(
  asking: Asking,
  repository: string,
  stored: string | undefined,
): Promise<(typeof trackers)[number]> {
  const { given, config, prompter } = asking;
  const { tracker } = given;
  if (tracker !== undefined) {
    const named = trackers.find((name) => name === tracker);
    if (named !== undefined) return named;
    throw new Failure('usage', `--tracker: Expected one of ${trackers.join(', ')}.`);
  }
  if ((given.token ?? given.team ?? stored) !== undefined) return 'linear';
  const configured = providerOf(config.svc.tracker);
  if (configured !== undefined) return configured;
  // A prefix without a tracker was chosen on purpose.
  const suggested = config.svc.project.ticketPrefix === undefined ? 'github' : 'none';
  if (prompter === undefined) return suggested;
  const answer = await prompter.choose({
    message: 'Where are your tickets?',
    options: [
      { value: 'github', label: `Issues of ${repository} (by gh, without a token)` },
      { value: 'linear', label: 'Linear (needs an API token)' },
      { value: 'none', label: 'Elsewhere (they are not followed)' },
    ],
    suggested,
  });
  return trackers.find((name) => name === answer) ?? suggested;
}

/** `GH`, unless another project on this machine has it: then the key of the project. */
async function issuePrefix(asking: Asking, projectKey: string): Promise<string> {
  const { given, config, otherPrefixes } = asking;
  const usual = DEFAULT_PREFIX;
  const byKey = projectKey
    .replaceAll(/[^A-Za-z0-9]/g, '')
    .slice(0, 10)
    .toUpperCase();
  const free = [usual, byKey].find((prefix) => ticketPrefixForm.test(prefix) && !otherPrefixes.has(prefix));
  return settle(
    { ...asking, prompter: undefined },
    {
      flag: '--ticket-prefix',
      given: given.ticketPrefix,
      message: '',
      suggested: ticketPrefixOf(config) ?? free,
      missing: `Other projects on this machine already use ${usual} and ${byKey} for their tickets.`,
      form: (text) => (ticketPrefixForm.test(text) ? undefined : 'Expected letters and digits, such as GH.'),
      check: async (text) =>
        otherPrefixes.has(text.toUpperCase())
          ? `Another project on this machine uses ${text.toUpperCase()} for its tickets.`
          : undefined,
    },
  );
}

const noToken: TokenAndTeams = { token: undefined, teams: undefined };

type TokenAndTeams = {
  token: Answers['token'];
  /** Undefined when the tracker was not asked or did not answer. */
  teams: { key: string; name: string }[] | undefined;
};

async function askToken(asking: Asking, stored: string | undefined): Promise<TokenAndTeams> {
  const { given, lookups, prompter, warn } = asking;
  const tried = async (value: string, isNew: boolean): Promise<TokenAndTeams | Failure> => {
    const found = await lookups.teams(value);
    if (found.ok) return { token: { value, isNew }, teams: found.teams };
    if (found.refused) return found.problem;
    warn(`${found.problem.message} The token is used unchecked.`);
    return { token: { value, isNew }, teams: undefined };
  };
  if (given.token !== undefined || prompter === undefined) {
    const value = given.token ?? stored;
    if (value === undefined) return { token: undefined, teams: undefined };
    const problem = tokenForm(value);
    if (problem !== undefined) throw new Failure('usage', `The API token of the issue tracker: ${problem}`);
    const answer = await tried(value, value !== stored);
    if (answer instanceof Failure) throw answer;
    return answer;
  }
  let kept = stored;
  for (;;) {
    const enter = kept === undefined ? 'Enter: no tracker' : 'Enter: keep the stored one';
    const typed = await prompter.secret({
      message: `API token of the issue tracker (${enter})`,
      check: (answer) => (answer === '' ? undefined : tokenForm(answer)),
    });
    const value = typed === '' ? kept : typed;
    if (value === undefined) return { token: undefined, teams: undefined };
    const answer = await tried(value, value !== stored);
    if (!(answer instanceof Failure)) return answer;
    prompter.say(plainText(answer.message));
    // Enter must work even when the stored one is no longer valid.
    if (value === kept) kept = undefined;
  }
}

function tokenForm(token: string): string | undefined {
  return /^[\x21-\x7e]{8,1000}$/.test(token) ? undefined : 'Expected one word of at least 8 characters.';
}

async function askTeam(
  asking: Asking,
  teams: { key: string; name: string }[] | undefined,
): Promise<string | undefined> {
  const { config, given, prompter } = asking;
  const { team = given.ticketPrefix, ticketPrefix = team } = given;
  if (team !== ticketPrefix)
    throw new Failure('usage', '--team and --ticket-prefix mean the same and must be equal.');
  const configured = config.svc.tracker.teamKey ?? config.svc.project.ticketPrefix;
  const keys = teams?.map(({ key }) => key);
  const listed = (keys ?? []).join(', ');
  if (team === undefined && prompter !== undefined && teams !== undefined && teams.length > 0) {
    return prompter.choose({
      message: 'Team at the issue tracker: its key is the prefix of its tickets',
      options: teams.map(({ key, name }) => ({ value: key, label: plainText(`${key}  ${name}`) })),
      suggested: configured !== undefined && keys?.includes(configured) === true ? configured : undefined,
    });
  }
  const only = keys?.length === 1 ? keys[0] : undefined;
  const isOptional = keys === undefined;
  const answer = await settle(asking, {
    flag: '--team',
    given: team,
    message: `Prefix of the tickets, ABC in ABC-12${configured === undefined ? ' (Enter: none)' : ''}`,
    suggested: configured ?? only ?? (isOptional ? '' : undefined),
    missing:
      listed === ''
        ? 'The token has access to no team at the issue tracker.'
        : `The token has access to several teams: ${listed}.`,
    form: (text) =>
      ticketPrefixForm.test(text) || (text === '' && isOptional)
        ? undefined
        : 'Expected letters and digits, such as ABC.',
    check: async (text) =>
      keys === undefined || keys.includes(text)
        ? undefined
        : `The token has access to no team ${text}. Available teams: ${listed}.`,
  });
  return answer === '' ? undefined : answer;
}

async function askEnvironment(asking: Asking, repository: string): Promise<string | null> {
  const deploy = asking.config.svc.deploy[repository];
  const environments = await asking.lookups.environments(repository);
  const configured =
    deploy === undefined
      ? undefined
      : deploy.skipDeployVerification
        ? NO_ENVIRONMENT
        : deploy.productionEnvironment;
  const answer = await settle(asking, {
    flag: '--environment',
    given: asking.given.environment,
    message: `Deploy environment that makes a ticket done (${NO_ENVIRONMENT}: a merge is enough)`,
    suggested: configured ?? productionAmong(environments) ?? NO_ENVIRONMENT,
    missing: 'The deploy environment cannot be detected.',
    form: (text) => (text === '' || text.length > 255 ? 'Expected the name of an environment.' : undefined),
    check: async (text) =>
      text === NO_ENVIRONMENT || text === configured ? undefined : environmentSlip(text, environments),
  });
  return answer === NO_ENVIRONMENT ? null : answer;
}
