// What a person meets later: an agent without its key, and leaving.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hookedAgents } from '../../packages/monitor/src/features/sessions/hook-event.ts';
import { until, untilHolds } from '../../packages/testkit/src/waiting.ts';
import { REPO } from './codehost.ts';
import { commandToStart, initialise } from './first-contact.ts';
import { openPerson, type World } from './journey.ts';
import { FILE } from './model.ts';
import { answerAll, byCommand, ship } from './to-the-end.ts';

/** The variable with the agent's key. */
const keys: Readonly<Record<string, string>> = {
  claude: 'ANTHROPIC_API_KEY',
  codex: 'OPENAI_API_KEY',
  copilot: 'COPILOT_PROVIDER_API_KEY',
  gemini: 'GEMINI_API_KEY',
  qwen: 'OPENAI_API_KEY',
};
/** Agents whose missing key svc cannot name, and why. */
export const keyless: Readonly<Record<string, string>> = {
  opencode:
    'which variable has its key depends on its model provider, and without one it works with free models',
};

/**
 * The key is not there at first. svc says so before the start or when the agent stops, and names the variable; once the key
 * is there, the same ticket is done.
 */
export async function key(world: World): Promise<void> {
  const { program } = world;
  const variable = keys[program.name];
  if (variable === undefined) throw new Error(`it is not known which key ${program.name} needs`);
  const issue = world.addIssue();
  const person = await openPerson(world, 'kim', [variable]);
  const { terminal, variables } = person;
  const command = commandToStart(await initialise(person), issue);
  const started = await terminal.run(command);
  const isRefused = started.code !== 0;
  let said = started.screen;
  if (!isRefused) {
    await until(async () => (await person.view(issue.ticket)).agent?.state === 'idle');
    ({ screen: said } = await terminal.run('svc attention'));
  }
  if (!said.includes(variable)) throw new Error(`nothing says that ${variable} is missing:\n${said}`);
  await terminal.must(`export ${variable}='${variables[variable]}'`);
  await terminal.must(`svc config set svc.orchestration.agentEnv '["${variable}"]'`);
  await terminal.must('svc monitor restart');
  const { orchestrator } = isRefused ? { orchestrator: '' } : await person.view(issue.ticket);
  await terminal.must(isRefused ? command : `svc orchestrate retry ${orchestrator} ${issue.ticket}`);
  if (!isRefused) await until(async () => ((await person.view(issue.ticket)).agent?.attempt ?? 1) > 1);
  await answerAll(world, person, issue, { ways: [byCommand(person)] });
  await ship(world, person, issue);
}

/** What agents themselves write into a home, with and without svc: not their settings, hooks and skills. */
const ofAgents: readonly RegExp[] = [
  /^\.cache(?:\/|$)/,
  /^\.codex\/(?:\.sandbox_migration|\.?tmp|installation_id|sessions|shell_snapshots|thread-writer-locks)(?:\/|$)/,
  /^\.codex\/(?:\w+\.sqlite(?:-\w+)?|skills|skills\/\.system(?:\/.*)?)$/,
  /^\.copilot(?:\/(?:config\.json|installed-plugins|logs|session-state|settings\.json\.lock)(?:\/.*)?)?$/,
  /^\.(?:claude|gemini|qwen)(?:\/(?!settings\.json|hooks|skills).*)?$/,
  /^\.qwen\/skills$/,
  /^\.local(?:\/share|\/state)?$/,
  /^\.(?:config|local\/share|local\/state)\/opencode(?:\/(?!plugins?\/|skills).*)?$/,
];
/** Claude Code writes it; svc adds its worktrees. */
const SHARED = '.claude.json';

/**
 * Everything on the machine and at the code host before `svc init` and after `svc uninstall`, in the middle of a ticket.
 * Nothing is left or changed but what it says it keeps, also in the agents' folders, and unsaved work can be restored with the printed command.
 */
export async function uninstall(world: World): Promise<void> {
  const { program, codehost, relay } = world;
  const issue = world.addIssue();
  const person = await openPerson(world, 'kim');
  const { terminal, folder, git, home } = person;
  const inventory = () => ({
    ...person.inventory(),
    webhooks: codehost.cloud.repoOf(REPO).hooks.map(({ config }) => config.url),
    channelReaders: relay.subscribers(),
  });
  const before = inventory();
  const initialised = await initialise(person);
  await terminal.must(`svc skills install --agent ${program.name}`, [['Write these files?', 'y\r']]);
  if (hookedAgents.some((name) => name === program.name))
    await terminal.must(`svc hooks install ${program.name} --yes`);
  await terminal.must(commandToStart(initialised, issue));
  // The commit of the first command is on no other machine; the agent waits with the second.
  const worktree = join(home, 'svc/wt/web', issue.ticket);
  await until(async () => ((await person.view(issue.ticket)).agent?.open.length ?? 0) > 0);
  await terminal.must(`svc agent answer ${issue.ticket} allow`);
  await until(() => git('-C', worktree, 'log', '-1', '--format=%s').includes(issue.ticket));
  await until(async () => ((await person.view(issue.ticket)).agent?.open.length ?? 0) > 0);
  const during = inventory();
  const isSeen = ['monitor run', program.command].every((name) =>
    during.processes.some((line) => line.includes(name)),
  );
  if (!isSeen || during.webhooks.length !== 1 || during.channelReaders === 0)
    throw new Error(`the inventory does not see what svc has set up: ${JSON.stringify(during)}`);

  const screen = await terminal.must('svc uninstall', [['Do this?', 'y\r']]);
  await untilHolds(() => {
    const { processes } = inventory();
    if (processes.length > before.processes.length) throw new Error(`left running: ${processes.join('; ')}`);
  });
  const after = inventory();
  // What was to be removed must be gone.
  const kept = screen.split('\n').filter((line) => /^keep |[Kk]ept /.test(line));
  const announced = kept.join('\n').match(/\/[^\s:,]+/g) ?? [];
  const left = after.files
    .filter((path) => !before.files.includes(path) && !ofAgents.some((pattern) => pattern.test(path)))
    .filter((path) => path !== SHARED || readFileSync(join(home, path), 'utf8').includes(join(home, 'svc')))
    .filter((path) => !announced.some((named) => isAtOrIn(join(home, path), named)));
  const gone = before.files.filter((path) => !after.files.includes(path));
  const changed = before.files.filter(
    (path) => after.files.includes(path) && after.digests[path] !== before.digests[path],
  );
  const problems = [
    ...left.map((path) => `left without a word: ${path}`),
    ...gone.map((path) => `removed, although svc did not write it: ${path}`),
    ...changed.map((path) => `not as before: ${path}:\n${readFileSync(join(home, path), 'utf8')}`),
    ...(JSON.stringify(after.git) === JSON.stringify(before.git)
      ? []
      : [`git is not as before: ${JSON.stringify(after.git)}, before ${JSON.stringify(before.git)}`]),
    ...after.webhooks.map((url) => `the webhook to ${url} is left`),
    ...(after.channelReaders === 0 ? [] : ['the channel of the relay is still read']),
  ];
  if (problems.length > 0) throw new Error(`${problems.join('\n')}\n${screen}`);

  const [, restore] = /^ +(cd .+ && git fetch .+)$/m.exec(screen) ?? [];
  if (restore === undefined) throw new Error(`it names no command that restores the work:\n${screen}`);
  execFileSync('/bin/sh', ['-c', restore], { env: person.environment, stdio: 'ignore' });
  const restored = git('-C', folder, 'show', `${issue.ticket}:${FILE}`);
  if (restored !== issue.word) throw new Error(`restored was ${JSON.stringify(restored)}, not the word`);
}

/** The folder itself may be listed as the parent of what is named. */
function isAtOrIn(path: string, named: string): boolean {
  return path === named || path.startsWith(`${named}/`) || named.startsWith(`${path}/`);
}
