// What svc wrote into the settings of agents: hooks, skills, and the folders that Claude Code trusts.
import { dirname, join } from 'node:path';
import { counted, plainText } from '../../../cli/kit/text.ts';
import { Failure } from '../../../kernel/failure.ts';
import { knownAgents } from '../../agents/choice.ts';
import { Config } from '../../config.ts';
import { hookedAgents } from '../../sessions/hook-event.ts';
import { hookScript } from '../../sessions/io/script.ts';
import { planRemoval, writeChange } from '../../sessions/io/settings.ts';
import { removeSkills, writtenFiles } from '../../skills/io/skills.ts';
import { placesOf } from '../../skills/verbs.ts';
import { createTrust } from '../../worktrees/io/trust.ts';
import { type Item, type Leaving, type Left, orLeft, type Part, removeEmpty } from './part.ts';

export async function hooksPart({ terminal, session }: Leaving): Promise<Part> {
  const { dataDir } = session.machine;
  const place = { dataDir, home: terminal.home, environment: terminal.environment };
  const items: Item[] = [];
  const work: ((done: (line: string) => void) => Promise<Left[]>)[] = [];
  for (const agent of hookedAgents) {
    const what = `the hooks of svc in the settings of ${agent}`;
    const change = await planRemoval(agent, place).catch((error: unknown) => {
      if (error instanceof Failure) return error;
      throw error;
    });
    if (change === null) continue;
    const isProblem = change instanceof Failure;
    if (!isProblem && change.before?.includes(hookScript(dataDir)) === false) {
      items.push({ action: 'keep', what, why: 'they report to the svc of another data folder' });
      continue;
    }
    items.push({
      action: 'remove',
      what,
      why: isProblem ? change.message : `${change.file} calls a program of svc`,
    });
    work.push((done) =>
      orLeft(what, async () => {
        if (isProblem) throw change;
        await writeChange(change, dataDir);
        done(`Removed ${what}`);
      }),
    );
  }
  return {
    items,
    async act({ done }) {
      const left: Left[] = [];
      for (const one of work) left.push(...(await one(done)));
      return left;
    },
  };
}

export async function skillsPart({ terminal }: Leaving): Promise<Part> {
  const places = (await placesOf(terminal, undefined, knownAgents({ agents: {} }))).filter(
    ({ installation }) => installation.installed !== null,
  );
  const items = places.flatMap(({ installation }): Item[] => {
    const { folder, files } = installation;
    const changed = files.filter(({ state }) => state === 'foreign');
    return [
      {
        action: 'remove',
        what: plainText(`the skills of svc in ${folder}`),
        why: `svc wrote ${counted(writtenFiles(installation).length, 'file')}`,
      },
      ...changed.map(({ path }): Item => {
        const file = join(folder, path);
        return { action: 'keep', what: plainText(file), why: 'it was changed since svc wrote it' };
      }),
    ];
  });
  return {
    items,
    async act({ done }) {
      const left: Left[] = [];
      for (const { installation } of places)
        left.push(
          ...(await orLeft(plainText(`the skills of svc in ${installation.folder}`), async () => {
            await removeSkills(installation);
            await removeEmpty(installation.folder, dirname(installation.folder));
            done(plainText(`Removed the skills of svc in ${installation.folder}`));
          })),
        );
      return left;
    },
  };
}

/** Folders of worktrees that are gone; those that are there lose their entry with the worktree. */
export async function trustPart({ terminal, session }: Leaving): Promise<Part> {
  const { home, dataDir } = session.machine;
  const trust = createTrust({ home: terminal.home || home, config: Config.parse({}), locks: session.locks });
  const folder = join(dataDir, 'wt');
  const { paths, isOwn } = await trust.folders();
  const count = paths.filter((path) => path.startsWith(`${folder}/`)).length;
  const what = 'the folders of worktrees in ~/.claude.json';
  const isThere = count > 0 || isOwn;
  return {
    items: isThere
      ? [{ action: 'remove', what, why: `svc marked ${counted(count, 'worktree')} as trusted there` }]
      : [],
    // Also where none was found: the file may be one that cannot be read.
    act: ({ done }) =>
      orLeft(what, async () => {
        const warning = await trust.removeAll(folder);
        if (warning !== undefined) throw new Failure('file-unusable', warning, 'Correct the file by hand');
        if (isThere) done(`Removed ${what}`);
      }),
  };
}
