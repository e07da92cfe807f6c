// What a person does on the first day: in a new home, `svc skills install`, then `svc orchestrate start` with the default
// configuration. The model does what the skill says, if it was given its text; the person allows what the agent asks for.
import { setTimeout as sleep } from 'node:timers/promises';
import { startStreamingModels } from '../../packages/testkit/src/models/streaming-models.ts';
import { secondsSince } from '../../packages/testkit/src/script.ts';
import { WAIT_MS } from '../../packages/testkit/src/waiting.ts';
import { type Driver, startTicket } from './driver.ts';
import type { Program } from './programs.ts';
import { running } from './replies.ts';

const REPO = 'acme/web';
const LONGEST_MS = 4 * WAIT_MS;
/** Only the text of the skill has it, with the ticket filled in. */
const MARKER = 'The ticket: A-1.';

/** There is no tracker, so a phase moves only the worker. */
const steps = [
  'svc ticket phase research; svc ticket phase planning; svc ticket phase inProgress; true',
  'echo four >> a.txt && git commit -qam "A-1: Count to four" && git push -q --set-upstream origin HEAD',
  `gh api repos/${REPO}/pulls -f title="A-1: Count to four" -f head=A-1 -f base=main --jq .html_url`,
  'svc ticket phase inReview; true',
];

export async function firstRun(program: Program | undefined, cache: string): Promise<boolean> {
  if (program === undefined) return false;
  const started = performance.now();
  const models = await startStreamingModels(MARKER, ({ prompt, results, tools }) => {
    const command = prompt.includes('svc ticket phase inReview') ? steps[results] : undefined;
    return command === undefined ? { text: 'It is done.' } : { tool: running(tools, command) };
  });
  let driver: Driver | undefined;
  try {
    driver = await startTicket(program, cache, models.url, {
      orchestration: {},
      shared: ['GH_HOST', 'GH_ENTERPRISE_TOKEN', 'GH_CONFIG_DIR', 'SSL_CERT_FILE'],
      async prepare(run, world) {
        world.codehost.cloud.addRepo(REPO);
        await run('skills', 'install', '--agent', program.name, '--yes');
      },
    });
    const status = await finish(driver);
    const opened = driver.world.codehost.cloud.find(REPO)?.repo.pullRequests.map(({ branch }) => branch);
    const isGood = status === 'pr-created' && opened?.join() === 'A-1';
    const seen = `${status}, pull requests of ${opened?.join() || 'no branch'}`;
    console.log(`${program.name}: ${isGood ? 'ok' : 'FAILED'}: ${seen} (${secondsSince(started)} s)`);
    return isGood;
  } catch (error) {
    console.log(`${program.name}: FAILED: ${error instanceof Error ? error.message : String(error)}`);
    return false;
  } finally {
    await driver?.end();
    await models.close();
  }
}

/** The status of the worker when its agent has nothing more to do. */
async function finish({ look, answer, world }: Driver): Promise<string | undefined> {
  const deadline = performance.now() + LONGEST_MS;
  const workerStatus = async () => (await world.daemon.board())?.workers[0]?.status;
  while (performance.now() < deadline) {
    const { agent, items } = await look();
    const isOver = items.some(({ kind }) => kind === 'turn') && agent.state === 'idle';
    if (agent.open.length > 0) await answer('allow_once');
    else if (isOver || agent.state === 'ended') break;
    await sleep(100);
  }
  await world.daemon.waitFor(({ workers }) => workers[0]?.status === 'pr-created', WAIT_MS);
  return workerStatus();
}
