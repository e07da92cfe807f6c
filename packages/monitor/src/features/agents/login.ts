// Whether an agent has a login or a key. It is found by what the agent itself reports, and by what is there for it: the
// variables that it reads and the files with its login. Where neither shows it, it is unknown. Whether the provider
// accepts a key shows only when the agent gets work.
import { asFields, type Fields, objectAt, textAt } from '@svc/contract/payload-fields';
import { z } from 'zod';
import { shortText } from './tools.ts';

export const AgentLogin = z.object({
  state: z
    .enum(['yes', 'no', 'unknown'])
    .describe('yes: it has a login or a key. no: it has none and cannot work. It is never guessed'),
  why: z.string().describe('How that is known, or why it is not. Contains no secret'),
});
export type AgentLogin = z.infer<typeof AgentLogin>;

/** A path below the folder that the variable names, or below this folder of the home. */
export type InHome = readonly [variable: string | null, folder: string, file: string];

/** What was seen of an agent in the version that `install` names. */
export type LoginRule = {
  /** How a person logs in, with nothing but the agent's own program. */
  command: string;
  /** A key in one of these is used; the first is suggested. */
  keys: readonly string[];
  /** They exist while somebody is logged in. */
  files: readonly InHome[];
  /** It opens no session without a login or a key. */
  refuses?: true;
  /** With one of these in its variables or settings, a key may come from a place that svc does not know. */
  elsewhere?: readonly string[];
  settings?: readonly InHome[];
  /** Settings in the folder of a project. */
  ofProject?: readonly string[];
  /** Settings that name the variable with the key of the chosen model provider. */
  namesKey?: InHome;
};

export const loginRules: Readonly<Record<string, LoginRule>> = {
  // Reports its login, but not one by a token, and opens a session without one.
  claude: {
    command: 'claude-agent-acp --cli auth login',
    keys: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN'],
    files: [['CLAUDE_CONFIG_DIR', '.claude', '.credentials.json']],
    elsewhere: [
      'ANTHROPIC_BASE_URL',
      'ANTHROPIC_AUTH_TOKEN',
      'ANTHROPIC_API_KEY',
      'CLAUDE_CODE_OAUTH_TOKEN',
      'apiKeyHelper',
    ],
    settings: [
      ['CLAUDE_CONFIG_DIR', '.claude', 'settings.json'],
      [null, '/etc/claude-code', 'managed-settings.json'],
    ],
    ofProject: ['.claude/settings.json', '.claude/settings.local.json'],
  },
  // Reports its login, and refuses to work without one; OPENAI_API_KEY alone is none. Of another provider than OpenAI it
  // reports only the name, and notices a missing key when it gets work.
  codex: {
    command: 'codex-acp cli login',
    keys: [],
    files: [['CODEX_HOME', '.codex', 'auth.json']],
    namesKey: ['CODEX_HOME', '.codex', 'config.toml'],
    elsewhere: ['model_provider'],
    ofProject: ['.codex/config.toml'],
  },
  // Reports none, and refuses to work without one. A gateway may need a key or not.
  gemini: {
    command: 'gemini',
    refuses: true,
    keys: ['GEMINI_API_KEY'],
    files: [['GEMINI_CLI_HOME', '.', '.gemini/oauth_creds.json']],
    elsewhere: ['GOOGLE_GEMINI_BASE_URL'],
  },
  // Reports none, and opens a session without one: it has free models.
  opencode: {
    command: 'opencode auth login',
    keys: [],
    files: [['XDG_DATA_HOME', '.local/share', 'opencode/auth.json']],
  },
  // Reports none, and refuses to work without one. A key alone is not enough in a new home, and then it refuses.
  qwen: {
    command: 'qwen (then /auth)',
    refuses: true,
    keys: ['OPENAI_API_KEY'],
    files: [[null, '.qwen', 'oauth_creds.json']],
  },
  // Reports none, and refuses to work without one; it asks GitHub whether a token is valid. Another provider than GitHub
  // may need a key or not.
  copilot: {
    command: 'copilot login',
    refuses: true,
    keys: ['COPILOT_GITHUB_TOKEN', 'COPILOT_PROVIDER_API_KEY'],
    files: [],
    elsewhere: ['COPILOT_PROVIDER_BASE_URL'],
  },
};

/** What is there for an agent. Names only, never a value. */
export type LoginEvidence = {
  /** It opens no session without a login or a key. */
  refuses: boolean;
  /** Which of its variables it gets. */
  keys: readonly string[];
  /** Which of its variables svc has and does not pass on. */
  withheld: readonly string[];
  /** Which of its files exist. */
  files: readonly string[];
  /** Why a key may come from a place that svc does not know: a variable, or a file of settings. */
  elsewhere: string | null;
  /** The variable that its settings name for the key, and that it does not get. */
  missingKey: string | null;
};

export const noEvidence: LoginEvidence = {
  refuses: false,
  keys: [],
  withheld: [],
  files: [],
  elsewhere: null,
  missingKey: null,
};

/** What an agent has reported of its login, in words for people; `none`: nobody is logged in. */
export type ReportedLogin = { kind: 'none' | 'gateway' | 'other'; words: string };

/** An extension of the protocol: the agent reports on its own which login it uses. */
export const LOGIN_REPORT = '_auth/status_update';

/** Whether it announces that, in its capabilities. */
export function reportsLogin(capabilities: Fields): boolean {
  return asFields(objectAt(capabilities, '_meta')['authStatus']) !== undefined;
}

/** Undefined: it cannot be read. Of an account only the label is kept, not whose it is. */
export function reportedLogin(params: Fields): ReportedLogin | undefined {
  const status = objectAt(params, 'authStatus');
  const kind = textAt(status, 'kind');
  if (kind === undefined) return undefined;
  const parts = [textAt(status, 'label') ?? kind, textAt(status, 'detail')];
  const words = shortText(parts.filter(Boolean).join(', '));
  return { kind: kind === 'none' || kind === 'gateway' ? kind : 'other', words };
}

/** `session` is undefined while it was not asked. */
export function judgeLogin(
  { refuses, keys: [key], files: [file], elsewhere, missingKey }: LoginEvidence,
  session?: { needsLogin: boolean; sessionId: string | null; login: ReportedLogin | null },
): AgentLogin {
  if (session?.needsLogin === true)
    return no(
      key === undefined
        ? 'it opens no session without one'
        : `it opens no session, although ${key} is set: the key may be wrong, or not enough`,
    );
  if (missingKey !== null) return no(`its settings take the key from ${missingKey}, which it does not get`);
  const found = key !== undefined ? `${key} is set` : file !== undefined ? `there is ${file}` : undefined;
  if (session === undefined)
    return unknown(found === undefined ? 'it was not asked' : `${found}; it was not asked`);
  const { login, sessionId } = session;
  if (sessionId === null) return unknown('it opened no session');
  if (login?.kind === 'other') return yes(login.words);
  if (key !== undefined) return yes(`${key} is set`);
  if (login?.kind === 'gateway') return unknown(`it uses ${login.words}`);
  if (elsewhere !== null) return unknown(`it may have a key by ${elsewhere}`);
  if (login?.kind === 'none') return no('it reports that nobody is logged in');
  if (refuses) return yes('it opened a session, which it refuses without one');
  return found === undefined ? unknown('it shows only when it gets work') : yes(found);
}

const yes = (why: string): AgentLogin => ({ state: 'yes', why });
const no = (why: string): AgentLogin => ({ state: 'no', why });
const unknown = (why: string): AgentLogin => ({ state: 'unknown', why });

/** What a person does about a missing login. */
export function loginRemedy(
  { command, keys }: Pick<LoginRule, 'command' | 'keys'>,
  { keys: given, withheld, missingKey }: LoginEvidence,
  agentEnv: readonly string[],
): string {
  const passOn = (name: string): string =>
    `svc config set svc.orchestration.agentEnv '${JSON.stringify([...agentEnv, name])}'`;
  const restart = 'svc monitor restart';
  const [own] = withheld;
  if (own !== undefined)
    return `Run: ${passOn(own)}. It is set where svc runs, and the agent does not get it.`;
  if (missingKey !== null)
    return agentEnv.includes(missingKey)
      ? `Set ${missingKey} in the environment of the daemon, then: ${restart}`
      : `Run: ${passOn(missingKey)}. And set it in the environment of the daemon, then: ${restart}`;
  const [key] = keys;
  if (key === undefined || given.length > 0) return `Run: ${command}`;
  const also = agentEnv.includes(key) ? '' : `, then: ${passOn(key)}`;
  return `Run: ${command}. Or set ${key} in the environment of the daemon, and restart it: ${restart}${also}`;
}

/**
 * The variable with the key of the model provider that a `config.toml` of Codex chooses. Undefined: none, or it is not
 * certain, because a profile or a layout that is not the usual one may choose another.
 */
export function codexKeyVariable(toml: string): string | undefined {
  const [top = '', ...sections] = `\n${toml}`.split(/^(?=[ \t]*\[)/m);
  if (/^\s*["']?profile\b/m.test(top)) return undefined;
  const provider = /^\s*model_provider\s*=\s*(["'])([\w.-]+)\1\s*(?:#.*)?$/m.exec(top)?.[2];
  if (provider === undefined) return undefined;
  const heads = [`[model_providers.${provider}]`, `[model_providers."${provider}"]`];
  const own = sections.filter((section) => heads.includes(section.trim().split(/\s*(?:\n|#)/, 1)[0] ?? ''));
  if (own.length !== 1) return undefined;
  return /^\s*env_key\s*=\s*(["'])([A-Za-z_][A-Za-z0-9_]*)\1\s*(?:#.*)?$/m.exec(own[0] ?? '')?.[2];
}
