// The configuration files of a world, on a real disk: projects with their files, disks that are mounted or not, and the
// global file with the list of projects.
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FileStep, PolicyEntry, ProjectFile } from './steps.ts';

export interface ProjectFiles {
  apply: (step: FileStep) => void;
}

export function createProjectFiles(options: {
  home: string;
  configDir: string;
  /** Given, every second project is a checkout: another file is another branch, and git changes to it. */
  git?: (folder: string, ...words: string[]) => string;
  /** More keys of the project file, beside `svc.deploy`. */
  settings: (project: string) => Record<string, unknown>;
}): ProjectFiles {
  const { home, configDir, settings, git } = options;
  const globalFile = join(configDir, 'config.json');
  const branches = new Map<string, number>();
  const listed = new Set<string>();
  const away = new Set<string>();
  let global: Extract<FileStep, { do: 'global' }>['file'] = 'good';

  function folderOf(project: string): string {
    const folder = join(home, project);
    return away.has(project) ? `${folder}.away` : folder;
  }

  function writeGlobal(): void {
    const projects = [...listed].map((project) => join(home, project));
    const good = JSON.stringify({ svc: { projects } });
    if (global === 'gone') rmSync(globalFile, { force: true });
    else {
      const texts = {
        good,
        misspelt: JSON.stringify({ svc: { project: projects } }),
        cut: good.slice(0, -2),
        empty: '{}',
      };
      writeFileSync(globalFile, texts[global], { mode: 0o600 });
    }
  }

  function writeProject(project: string, folder: string, file: ProjectFile | null): void {
    const path = join(folderOf(project), folder, 'config.json');
    if (file === null) rmSync(path, { force: true });
    else {
      mkdirSync(join(folderOf(project), folder), { recursive: true });
      writeFileSync(path, textOf(file, settings(project)));
    }
  }

  /** The file as it is on a branch of its own, to which git then changes. */
  function checkOut(project: string, folder: string, file: ProjectFile | null): void {
    if (git === undefined) return;
    const at = folderOf(project);
    const number = (branches.get(project) ?? 0) + 1;
    branches.set(project, number);
    if (number === 1) {
      git(at, 'init', '-q', '-b', 'main');
      git(at, 'commit', '-q', '--allow-empty', '-m', 'Begin');
    }
    // It is committed in another worktree, so that only the change to its branch changes the project's folder.
    const elsewhere = `${at}.branch`;
    git(at, 'worktree', 'add', '-q', '-b', `branch-${number}`, elsewhere);
    const path = join(elsewhere, folder, 'config.json');
    if (file === null) rmSync(path, { force: true });
    else {
      mkdirSync(join(elsewhere, folder), { recursive: true });
      writeFileSync(path, textOf(file, settings(project)));
    }
    git(elsewhere, 'add', '--all');
    git(elsewhere, 'commit', '-q', '--allow-empty', '-m', `Settings ${number}`);
    git(at, 'worktree', 'remove', '--force', elsewhere);
    git(at, 'checkout', '-q', `branch-${number}`);
  }

  const isCheckout = (project: string): boolean => git !== undefined && /[02468]$/.test(project);

  mkdirSync(configDir, { recursive: true, mode: 0o700 });
  writeGlobal();
  return {
    apply(step) {
      if (step.do === 'file') {
        mkdirSync(folderOf(step.project), { recursive: true });
        (isCheckout(step.project) ? checkOut : writeProject)(step.project, step.folder, step.file);
      } else if (step.do === 'mount') {
        const before = folderOf(step.project);
        mkdirSync(before, { recursive: true });
        if (step.isThere) away.delete(step.project);
        else away.add(step.project);
        if (before !== folderOf(step.project)) renameSync(before, folderOf(step.project));
      } else if (step.do === 'list') {
        if (step.isListed) listed.add(step.project);
        else listed.delete(step.project);
        writeGlobal();
      } else {
        global = step.file;
        writeGlobal();
      }
    },
  };
}

function textOf(file: ProjectFile, settings: Record<string, unknown>): string {
  if (file.kind === 'empty') return '';
  const deploy = file.kind === 'cut' ? {} : file.deploy;
  const svc = {
    ...settings,
    ...(deploy !== null && { deploy: mapValues(deploy, entryOf) }),
    ...(file.kind === 'refused' && { orchestration: { maxParallel: 0 } }),
  };
  const text = JSON.stringify({ svc });
  return file.kind === 'cut' ? text.slice(0, -5) : text;
}

function entryOf({ skip, environment }: PolicyEntry): Record<string, unknown> {
  return {
    ...(skip !== undefined && { skipDeployVerification: skip }),
    ...(environment !== undefined && { productionEnvironment: environment }),
  };
}

function mapValues<From, To>(values: Record<string, From>, change: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value)]));
}
