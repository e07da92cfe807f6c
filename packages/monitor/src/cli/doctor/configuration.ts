// What is wrong with the configuration files. A name that will go is moved to its new one where the value stays
// in the same file; the project file is the repository's, and is left to people.
import {
  type ConfigProblem,
  canonicalKey,
  deprecations,
  doctorFinding,
  judgeProblem,
  reportProblem,
} from '@svc/core';
import { valueAt } from '../../config/edit-json.ts';
import type { ConfigFiles } from '../../config/load.ts';
import { readJsonFile } from '../../config/read-json.ts';
import { createConfigStore } from '../../config/store.ts';
import type { Session } from '../session.ts';
import { type Found, fixableBy } from './check.ts';
import type { DoctorProjects } from './projects.ts';

export async function checkConfiguration(
  session: Session,
  { problems, projects }: DoctorProjects,
): Promise<Found[]> {
  if (problems.length === 0) {
    const evidence = projects.map(({ folder }) => folder).join(', ') || 'no project';
    return [doctorFinding('configuration', 'ok', 'no problems in the configuration files', { evidence })];
  }
  const { files } = await session.load();
  return Promise.all(problems.map((problem) => judge(session, files, problem)));
}

async function judge(session: Session, files: ConfigFiles, problem: ConfigProblem): Promise<Found> {
  const finding = judgeProblem(reportProblem(problem));
  if (problem.code !== 'deprecated') return finding;
  const entry = deprecations.find(({ key }) => key === canonicalKey(problem.key));
  if (entry === undefined || entry.replacement === entry.key) return finding;
  const from = problem.key.split('.');
  const to = entry.replacement.split('.');
  const read = await readJsonFile(problem.file);
  // Where both are given the new one counts: nothing is to be moved, and nothing is thrown away.
  if (read.state !== 'read' || valueAt(read.text, to) !== undefined) return finding;
  return fixableBy(finding, async () => {
    const store = createConfigStore({ locks: session.locks, files: { ...files, global: problem.file } });
    await store.setMany('global', [
      { path: to, value: valueAt(read.text, from) },
      { path: from, value: undefined },
    ]);
    return `renamed ${problem.key} to ${entry.replacement} in ${problem.file}`;
  });
}
