// Bundles the command line and the daemon into dist/: one start file, the daemon loaded only when it runs, the web
// app in dist/dashboard, the demo in dist/demo, the `.sh` names in dist/bin, the skills in dist/skills, what completion
// knows, and the licences of what is bundled. With `--program-only` the web app is taken as packages/dashboard/dist has it;
// with `--if-changed` a build that is newer than its sources stays.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { extname, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'rolldown';
import { type Bundled, bundledIn, NOTICES, noticesText, readBundled } from '../../release/notices.ts';
import { isCurrent } from './build-is-current.ts';
import { VOCABULARY_FILE } from './src/cli/completion/find-completions.ts';
import { makeVocabulary } from './src/cli/completion/make-vocabulary.ts';
import { helpOfSvc } from './src/cli/describe-svc.ts';
import { HELP_FILE } from './src/cli/kit/recorded-help.ts';

const here = import.meta.dirname;
const root = join(here, '..', '..');
const dashboard = join(root, 'packages', 'dashboard');
const version = readFileSync(join(root, 'version.txt'), 'utf8').trim();
const dist = join(here, 'dist');
// Built beside and then put in place, so that a failed build leaves the one before.
const fresh = join(here, `dist.${process.pid}.tmp`);

const bundled: Bundled[] = [];
/** The comments to keep in bundled code; the others are a tenth of it. */
const licencesOnly = { legal: true, jsdoc: false, annotation: false };
/**
 * What is loaded together is in one file: for help, for a hook, and for a verb that only asks the daemon. Node needs about
 * half a millisecond for each further file.
 */
const loadedTogether = [
  { name: 'help', test: /[\\/]kit[\\/](?:recorded-help|version)\.ts$/ },
  { name: 'files', test: /[\\/](?:access[\\/]token-file|disk[\\/]lock)\.ts$/ },
  {
    name: 'command',
    test: /[\\/]cli[\\/](?:program|run|kit[\\/](?:daemon|on-machine|terminal|text|verb))\.ts$|[\\/]src[\\/]features[\\/]verbs\.ts$|[\\/]commander[\\/]/,
  },
];
const sources = [
  // Not the whole packages: a build changes the times of their folders.
  ...['contract', 'lib', 'client', 'demo', 'monitor', 'dashboard'].map((name) => `packages/${name}/src`),
  ...['public', 'index.html', 'vite.config.ts'].map((name) => `packages/dashboard/${name}`),
  'packages/monitor/build.ts',
  'bin',
  'examples/skills',
  'release/notices.ts',
  'version.txt',
  'package-lock.json',
];

if (
  process.argv.includes('--if-changed') &&
  isCurrent(
    join(dist, NOTICES),
    sources.map((name) => join(root, name)),
  )
)
  process.exit();

try {
  console.log('building svc');
  await bundleProgram();
  await bundleDemo();
  if (!process.argv.includes('--program-only')) buildDashboard();
  takeDashboard();
  takeCommands();
  takeSkills();
  await describeProgram();
  writeFileSync(join(fresh, NOTICES), noticesText(bundled));
  rmSync(dist, { recursive: true, force: true });
  renameSync(fresh, dist);
} finally {
  rmSync(fresh, { recursive: true, force: true });
}
console.log(`built dist/svc.js ${version}`);

async function bundleProgram(): Promise<void> {
  const { output } = await build({
    cwd: here,
    // The filter of event lines runs in a thread of its own, which starts from a file of its own.
    input: { svc: 'src/cli/start.ts', 'jq-thread': 'src/kernel/log/jq-thread.ts' },
    platform: 'node',
    // jsonc-parser's main entry is UMD, which no bundler can follow; its module entry is plain.
    resolve: { mainFields: ['module', 'main'] },
    external: ['fastify', 'pino', 'prom-client', 'jq-wasm'],
    transform: { define: { __SVC_VERSION__: JSON.stringify(version) } },
    plugins: [{ name: 'modules of Node without their facades', renderChunk: takeNodeDirectly }],
    output: {
      dir: fresh,
      format: 'esm',
      banner: '#!/usr/bin/env -S node --max-semi-space-size=16',
      sourcemap: false,
      comments: licencesOnly,
      codeSplitting: { groups: loadedTogether },
    },
  });
  chmodSync(join(fresh, 'svc.js'), 0o755);
  bundled.push(...bundledIn(output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))));
}

/**
 * Node makes a list of all exports of a module that is imported, and loads what is behind them: fetch and WebSocket with
 * node:http. That is a quarter of the time that a command takes to start.
 */
function takeNodeDirectly(code: string): string {
  return code.replace(
    /^import (?:([\w$]+),? )?(?:\{ (.+?) \} )?from "(node:[\w/]+)";$/gm,
    (line, whole: string | undefined, names: string | undefined, module: string) => {
      if (whole === undefined && names === undefined) return line;
      const taken = `globalThis.process.getBuiltinModule("${module}")`;
      const parts = [whole, names && `{ ${names.replaceAll(' as ', ': ')} }`].filter(Boolean);
      return parts.map((part) => `const ${part} = ${taken};`).join(' ');
    },
  );
}

/** The demo, its code host's client and its agent, a file each, and the recorded day; of dependencies only what the program has too. */
async function bundleDemo(): Promise<void> {
  for (const name of ['demo', 'gh', 'agent']) {
    const { output } = await build({
      cwd: here,
      input: { [name]: `../demo/src/${name}.ts` },
      platform: 'node',
      output: {
        dir: join(fresh, 'demo'),
        format: 'esm',
        codeSplitting: false,
        sourcemap: false,
        comments: licencesOnly,
      },
    });
    const foreign = output
      .flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
      .filter((module) => module.includes('node_modules'))
      .filter((module) => !bundled.some(({ name: known }) => module.includes(`node_modules/${known}/`)));
    if (foreign.length > 0) throw new Error(`the demo must not bring along ${foreign.join(', ')}`);
  }
  for (const name of ['day.jsonl', 'decision.jsonl'])
    cpSync(join(root, 'packages/demo/src', name), join(fresh, 'demo', name));
}

/** With every file compressed as far as possible, because the daemon compresses none. */
function buildDashboard(): void {
  console.log('building the dashboard (up to a minute)');
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js');
  execFileSync(process.execPath, [vite, 'build', '--logLevel', 'warn'], { cwd: dashboard, stdio: 'inherit' });
  const compressible = new Set(['.css', '.html', '.js', '.json', '.svg', '.webmanifest']);
  for (const entry of readdirSync(join(dashboard, 'dist'), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !compressible.has(extname(entry.name))) continue;
    const file = join(entry.parentPath, entry.name);
    const bytes = readFileSync(file);
    const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
    writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params }));
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: constants.Z_BEST_COMPRESSION }));
  }
}

function takeDashboard(): void {
  const built = join(dashboard, 'dist');
  if (!existsSync(built)) return console.warn('the dashboard is not built and is left out');
  const into = join(fresh, 'dashboard');
  const list = join(built, '.vite', 'license.json');
  if (!existsSync(list)) throw new Error('the dashboard was built without its licences; run: npm run build');
  cpSync(built, into, { recursive: true, filter: (from) => from !== join(built, '.vite') });
  for (const { identifier, text, ...module } of JSON.parse(readFileSync(list, 'utf8')) as ViteLicence[])
    bundled.push({ ...module, licence: identifier, words: text ?? '' });
  // The list has only what scripts import, and these come through the style sheet.
  for (const name of ['@fontsource-variable/inter', 'tailwindcss'])
    bundled.push(readBundled(join(root, 'node_modules', name)));
}

type ViteLicence = {
  name: string;
  version: string;
  identifier: string | undefined;
  text: string | undefined;
};

/** The `.sh` names of the interface as bin/ has them, but each starts the program of this very package. */
function takeCommands(): void {
  const from = join(root, 'bin');
  mkdirSync(join(fresh, 'bin'));
  for (const name of readdirSync(from).filter((each) => each.endsWith('.sh'))) {
    const text = readFileSync(join(from, name), 'utf8');
    const own = text.replace('/svc" ', '/../svc.js" ');
    if (own === text) throw new Error(`bin/${name} does not start svc in the way that this build knows`);
    writeFileSync(join(fresh, 'bin', name), own, { mode: 0o755 });
  }
}

/** What `svc skills install` installs; the page about them is for readers of the repository. */
function takeSkills(): void {
  const from = join(root, 'examples/skills');
  cpSync(from, join(fresh, 'skills'), { recursive: true, filter: (file) => !file.endsWith('/README.md') });
}

/** What is printed of the program without running it. */
async function describeProgram(): Promise<void> {
  writeFileSync(join(fresh, VOCABULARY_FILE), JSON.stringify(await makeVocabulary()));
  writeFileSync(join(fresh, HELP_FILE), JSON.stringify(await helpOfSvc()));
}
