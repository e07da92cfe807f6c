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
  /** More keys of the project file, beside `svc.deploy`. */
  settings: (project: string) => Record<string, unknown>;
}): ProjectFiles {
  const { home, configDir, settings } = options;
  const globalFile = join(configDir, 'config.json');
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

  mkdirSync(configDir, { recursive: true, mode: 0o700 });
  writeGlobal();
  return {
    apply(step) {
      if (step.do === 'file') {
        mkdirSync(folderOf(step.project), { recursive: true });
        writeProject(step.project, step.folder, step.file);
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
