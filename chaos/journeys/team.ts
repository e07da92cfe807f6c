// Two people with a machine each, and their own relay on a real nats-server: what waits at one is seen by the other, handed
// over, and answered from the other machine once its owner allows that.
import { join } from 'node:path';
import type { ConfigReport } from '../../packages/monitor/src/features/configuration/api.ts';
import type { TeamBoard } from '../../packages/monitor/src/features/team/api.ts';
import { startServer } from '../../packages/testkit/src/daemon/server-process.ts';
import { relayProgram } from '../../packages/testkit/src/daemon/start-daemon.ts';
import { startNatsServer } from '../../packages/testkit/src/nats/nats-cluster.ts';
import { scriptFolder } from '../../packages/testkit/src/script.ts';
import { until } from '../../packages/testkit/src/waiting.ts';
import { commandToStart, initialise } from './first-contact.ts';
import { openPerson, type Person, type World } from './journey.ts';
import { answerAll, ship } from './to-the-end.ts';

async function startRelay({ ending }: World): Promise<string> {
  const nats = await startNatsServer();
  ending.defer(() => nats.stop());
  const folder = scriptFolder('journey-relay');
  const announcedIn = join(folder, 'relay.json');
  const relay = startServer({
    command: [relayProgram, 'serve', '--provision', '--port', '0', '--port-file', announcedIn],
    environment: { HOME: folder, SVC_RELAY_NATS: nats.url },
    folder,
    announcedIn,
    output: join(folder, 'relay.log'),
  });
  ending.defer(() => relay.kill());
  const { port } = await relay.ready;
  return `http://127.0.0.1:${port}`;
}

export async function team(world: World): Promise<void> {
  const relay = await startRelay(world);
  const issue = world.addIssue();
  const { ticket } = issue;
  const kim = await openPerson(world, 'kim');
  const lee = await openPerson(world, 'lee');
  const initialised = await initialise(kim);
  await lee.terminal.must('svc monitor start');
  await kim.terminal.must(`svc team create --relay ${relay} --name web --machine-name kim-laptop`);
  const invited = await kim.terminal.must('svc team invite');
  const [invitation] = /http:[^\s']+#[^\s']+/.exec(invited) ?? [];
  if (invitation === undefined) throw new Error(`no invitation was printed:\n${invited}`);
  await lee.terminal.must(`svc team join '${invitation}' --machine-name lee-laptop`);
  await kim.terminal.must(commandToStart(initialised, issue));

  const screens = await lee.openScreens('/?view=team');
  await screens.needsPerson.getByText(ticket).first().waitFor();
  const { screen } = await kim.terminal.run('svc attention');
  const [item] = new RegExp(`\\S+/${ticket}/agent-needs-permission`).exec(screen) ?? [];
  if (item === undefined) throw new Error(`kim has no item that waits:\n${screen}`);
  await kim.terminal.must(`svc attention hand-over ${item} --to lee`);
  const own = await until(async () => {
    const { screen: shown } = await lee.terminal.run('svc attention');
    return shown.includes(item) ? shown : undefined;
  });
  if (!own.includes('kim-laptop')) throw new Error(`lee does not see where it waits:\n${own}`);

  const answer = `svc agent answer ${ticket} allow --machine kim-laptop`;
  const refused = await lee.terminal.run(answer);
  if (refused.code === 0 || !refused.screen.includes('svc.team.allow'))
    throw new Error(`lee may answer, although kim has not allowed it:\n${refused.screen}`);
  await kim.terminal.must(`svc config set svc.team.allow '{"person:lee": ["hand-over", "answer"]}'`);
  // The daemon looks at its files twice a second.
  await until(async () => {
    const { values } = await kim.ask<ConfigReport>('/api/config');
    const allowed = values.find(({ key }) => key === 'svc.team.allow');
    return JSON.stringify(allowed?.value).includes('person:lee');
  });
  await answerAll(world, kim, issue, {
    ways: [
      async (_, request) => {
        await until(async () => (await askedInTeam(lee)).includes(request));
        const mark = lee.hands.mark();
        await lee.terminal.must(answer);
        for (const act of lee.hands.since(mark)) kim.hands.did(`lee ${act}`);
      },
    ],
  });
  await ship(world, kim, issue);
}

/** The requests that wait anywhere in the team, as far as this machine knows. */
async function askedInTeam({ ask }: Person): Promise<string[]> {
  const { machines } = await ask<TeamBoard>('/api/team/board');
  return machines.flatMap(({ workers }) =>
    workers.flatMap(({ agent }) => agent?.open.map(({ request }) => request) ?? []),
  );
}
