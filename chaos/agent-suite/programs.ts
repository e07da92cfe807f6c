// The built-in agents, and how each is made to use a fake model on this machine instead of its vendor's. Each is installed
// from npm into its own folder of a cache outside the repository.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '@svc/lib/process';
import { inOneLine } from '../../packages/monitor/src/features/agents/agent-output.ts';
import { type KnownAgent, knownAgents } from '../../packages/monitor/src/features/agents/choice.ts';
import { WAIT_MS } from '../../packages/testkit/src/waiting.ts';

export type Program = KnownAgent & {
  package: string;
  version: string;
  environment: (url: string) => Record<string, string>;
  /** Its own settings, by path in its home. */
  settings?: (url: string) => Record<string, string>;
  /** A session cannot be continued in the minute in which it was made. */
  resumesNextMinute?: true;
};

export const KEY = 'sk-fake-key-0123456789';

const fakes: Readonly<Record<string, Pick<Program, 'environment' | 'settings' | 'resumesNextMinute'>>> = {
  claude: {
    environment: (url) => ({
      ANTHROPIC_BASE_URL: `${url}/anthropic`,
      ANTHROPIC_API_KEY: KEY,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      // Without it, it does not start as root.
      IS_SANDBOX: '1',
    }),
  },
  codex: {
    environment: () => ({ OPENAI_API_KEY: KEY }),
    settings: (url) => ({
      '.codex/config.toml': `model = "gpt-6.1-sol"
model_provider = "fake"
approval_policy = "on-request"
check_for_update_on_startup = false
[model_providers.fake]
name = "fake"
base_url = "${url}/openai/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
[analytics]
enabled = false
`,
    }),
  },
  gemini: {
    resumesNextMinute: true,
    environment: (url) => ({
      GEMINI_API_KEY: KEY,
      GOOGLE_GEMINI_BASE_URL: `${url}/gemini`,
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
    }),
    // Otherwise it takes the address for a gateway, and needs no key.
    settings: () => ({
      '.gemini/settings.json': JSON.stringify({ security: { auth: { selectedType: 'gemini-api-key' } } }),
    }),
  },
  opencode: {
    environment: () => ({
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    }),
    settings: (url) => ({
      '.config/opencode/opencode.json': JSON.stringify({
        // It adds this itself.
        $schema: 'https://opencode.ai/config.json',
        autoupdate: false,
        share: 'disabled',
        model: 'fake/fake-1',
        small_model: 'fake/fake-1',
        provider: {
          fake: {
            npm: '@ai-sdk/openai-compatible',
            name: 'Fake',
            options: { baseURL: `${url}/chat/v1`, apiKey: KEY },
            models: {
              'fake-1': {
                name: 'Fake 1',
                limit: { context: 200_000, output: 8_192 },
                cost: { input: 3, output: 15 },
              },
            },
          },
        },
      }),
    }),
  },
  qwen: {
    environment: (url) => ({
      OPENAI_API_KEY: KEY,
      OPENAI_BASE_URL: `${url}/chat/v1`,
      OPENAI_MODEL: 'fake-1',
    }),
  },
  copilot: {
    environment: (url) => ({
      COPILOT_PROVIDER_BASE_URL: `${url}/chat/v1`,
      COPILOT_PROVIDER_API_KEY: KEY,
      COPILOT_MODEL: 'fake-1',
      COPILOT_OFFLINE: 'true',
      COPILOT_AUTO_UPDATE: 'false',
    }),
  },
};

/** The built-in agents, in the versions that `svc agents check` asks for. */
export const programs: readonly Program[] = knownAgents({ agents: {} }).map((agent) => {
  const [, name, version] = / (@?[^@ ]+)@([^@ ]+)$/.exec(agent.install ?? '') ?? [];
  const fake = fakes[agent.name];
  if (name === undefined || version === undefined || fake === undefined)
    throw new Error(`The suite does not know how to install ${agent.name} or to fake its model.`);
  return { ...agent, ...fake, package: name, version };
});

const INSTALL_TIMEOUT_MS = 2 * WAIT_MS;

export type Installed = { state: 'cached' | 'installed' } | { state: 'missing'; reason: string };

/** From the npm registry, unless this version is in the cache. */
export async function install(program: Program, cache: string): Promise<Installed> {
  const folder = join(cache, program.name);
  if (installedVersion(program, cache) === program.version) return { state: 'cached' };
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  const end = await runCommand({
    file: 'npm',
    args: [
      'install',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
      '--fetch-retries=1',
      '--prefix',
      folder,
      `${program.package}@${program.version}`,
    ],
    // All of it: a machine may reach the registry only with its own certificates or proxy.
    environment: Object.fromEntries(Object.entries(process.env).map(([name, value]) => [name, value ?? ''])),
    timeoutMs: INSTALL_TIMEOUT_MS,
    maxBytes: 1024 * 1024,
  });
  if (end.ended === 'exit' && end.exitCode === 0 && installedVersion(program, cache) === program.version)
    return { state: 'installed' };
  rmSync(folder, { recursive: true, force: true });
  const reason = end.ended === 'exit' ? inOneLine(end.stderr).slice(0, 200) : end.ended;
  return { state: 'missing', reason: `npm install: ${reason}` };
}

/** Where its executable is. */
export function binFolder({ name }: Program, cache: string): string {
  return join(cache, name, 'node_modules/.bin');
}

function installedVersion(program: Program, cache: string): string | null {
  const file = join(cache, program.name, 'node_modules', program.package, 'package.json');
  if (!existsSync(file) || !existsSync(join(binFolder(program, cache), program.command))) return null;
  return String(JSON.parse(readFileSync(file, 'utf8')).version);
}
