// The configuration files of all projects that the daemon serves, read once for all checks of the doctor. A deprecated
// key is renamed if the value stays in the same file; the project file belongs to the repository and is not changed.

import { canonicalKey } from '@svc/contract/vendor-names';
import type { Session } from '../../../cli/kit/session.ts';
import type { Terminal } from '../../../cli/kit/terminal.ts';
import { type DoctorResult, fixableBy } from '../../../kernel/check/check.ts';
import { doctorFinding } from '../../../kernel/check/finding.ts';
import { valueAt } from '../../../kernel/config/edit-json.ts';
import type { ConfigFiles } from '../../../kernel/config/load.ts';
import { type ConfigProblem, reportProblem } from '../../../kernel/config/problems.ts';
import { readJsonFile } from '../../../kernel/config/read-json.ts';
import { createConfigStore } from '../../../kernel/config/store.ts';
import { createJqThreads } from '../../../kernel/log/jq-threads.ts';
import type { Config } from '../../config.ts';
import { deprecations, loadConfig, loadProjects } from '../../configure.ts';
import { judgeProblem } from '../../health/judge-daemon.ts';
import { filterProblem, filterProblems } from '../../rules/io/back-test.ts';
import { topics } from '../../topics.ts';

export async function checkConfiguration(
  session: Session,
  { problems, projects }: DoctorProjects,
): Promise<DoctorResult[]> {
  if (problems.length === 0) {
    const evidence = projects.map(({ folder }) => folder).join(', ') || 'no project';
    return [doctorFinding('configuration', 'ok', 'no problems in the configuration files', { evidence })];
  }
  const { files } = await session.load();
  return Promise.all(problems.map((problem) => judge(session, files, problem)));
}

async function judge(session: Session, files: ConfigFiles, problem: ConfigProblem): Promise<DoctorResult> {
  const finding = judgeProblem(reportProblem(problem));
  if (problem.code !== 'deprecated') return finding;
  const entry = deprecations.find(({ key }) => key === canonicalKey(problem.key));
  if (entry === undefined || entry.replacement === entry.key) return finding;
  const from = problem.key.split('.');
  const to = entry.replacement.split('.');
  const read = await readJsonFile(problem.file);
  // If both are set, the new one is used: nothing is moved or removed.
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

export type DoctorProject = { folder: string; config: Config; files: ConfigFiles };

export type DoctorProjects = {
  projects: DoctorProject[];
  /** The defaults if there is no project. */
  configs: Config[];
  problems: ConfigProblem[];
  /** Every file that was read. */
  files: string[];
};

export async function loadDoctorProjects(terminal: Terminal, { machine }: Session): Promise<DoctorProjects> {
  const { environment } = terminal;
  const { configs, folders, files, machineWide, ...found } = await loadProjects(
    machine,
    environment,
    terminal.folder,
  );
  const loaded = await Promise.all(
    folders.map(async (folder) => ({ folder, ...(await loadConfig(machine, environment, folder)) })),
  );
  const projects = loaded.flatMap(({ folder, config, files: own }) =>
    config === undefined ? [] : { folder, config, files: own },
  );
  const problems = [...found.problems, ...(await ruleFilterProblems(machineWide))];
  return { projects, configs, problems, files };
}

/** Problems that jq finds in the filters of rules. Without filters jq is not started. */
export async function ruleFilterProblems(config: Config | undefined): Promise<ConfigProblem[]> {
  const rules = config?.svc.rules ?? [];
  if (rules.every(({ when }) => when.filter === undefined)) return [];
  const jq = createJqThreads({ topics });
  try {
    return (await filterProblems(rules, jq.matches)).map(filterProblem);
  } finally {
    await jq.close();
  }
}
