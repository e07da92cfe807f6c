// The relay, installed from its tarball: it finds all that it imports, and a wrong word gets a sentence.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packPackage } from '../pack.ts';
import { packageNamed } from '../packages.ts';
import { mustRun } from '../run-command.ts';
import type { Person } from './person.ts';
import { problemsOf } from './verbs.ts';

/** One line for each thing that went wrong. */
export async function relayProblems(person: Person, version: string): Promise<string[]> {
  const project = join(person.folder, 'my relay');
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{ "private": true }\n');
  const tarball = await packPackage(packageNamed('svc-relay'), join(person.folder, 'pack'));
  const words = ['install', '--no-audit', '--no-fund', tarball.path];
  await mustRun('npm', words, { cwd: project, env: person.npmEnvironment });
  const asked = [
    { words: ['svc-relay', '--version'], codes: [0], says: new RegExp(version.replaceAll('.', '[.]')) },
    { words: ['svc-relay', 'serve', '--help'], codes: [0], says: /Usage: svc-relay serve/ },
    { words: ['svc-relay', 'serve', '--port', 'door'], codes: [2], says: /port/ },
  ];
  const problems: string[] = [];
  for (const each of asked) problems.push(...(await problemsOf(each, project, person.environment)));
  return problems;
}
