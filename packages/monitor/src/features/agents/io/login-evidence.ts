// What is there for the login of an agent: which of its variables it gets, which of its files exist, and what its settings
// name. Values of variables are never kept, and of files only what is needed.
import { join, resolve } from 'node:path';
import { ifPresent } from '@svc/lib/files';
import { readText, stat } from '@svc/lib/paths';
import type { KnownAgent } from '../choice.ts';
import { codexKeyVariable, type InHome, type LoginEvidence, type LoginRule, noEvidence } from '../login.ts';

type Place = {
  /** What every agent gets. */
  environment: Readonly<Record<string, string>>;
  /** What svc itself has. */
  inherited: Readonly<Record<string, string | undefined>>;
  home: string;
  /** The project's folder. */
  folder: string | undefined;
};

/** An empty object, which is left when nobody is logged in any more. */
const EMPTY_BYTES = 4;
const MOST_BYTES = 1024 * 1024;

export async function findLoginEvidence(agent: KnownAgent, place: Place): Promise<LoginEvidence> {
  const { login: rule } = agent;
  if (rule === null) return noEvidence;
  const variables: Readonly<Record<string, string>> = { ...place.environment, ...agent.env };
  const isGiven = (name: string): boolean => (variables[name] ?? '') !== '';
  const pathOf = ([variable, folder, file]: InHome): string => {
    const moved = variable === null ? undefined : variables[variable];
    return join(moved || resolve(variables['HOME'] || place.home, folder), file);
  };
  const files = await Promise.all(
    rule.files.map(async (file) => ((await isFilled(pathOf(file))) ? pathOf(file) : [])),
  );
  const elsewhere =
    rule.elsewhere?.find((name) => !rule.keys.includes(name) && isGiven(name)) ??
    (await settingsWith(rule, [
      ...(rule.settings ?? []).map(pathOf),
      ...(place.folder === undefined ? [] : (rule.ofProject ?? [])).map((file) =>
        join(place.folder ?? '', file),
      ),
    ]));
  const named = rule.namesKey && codexKeyVariable((await textIn(pathOf(rule.namesKey))) ?? '');
  return {
    refuses: rule.refuses === true,
    keys: [...rule.keys, ...(named === undefined || elsewhere !== null ? [] : [named])].filter(isGiven),
    withheld: rule.keys.filter((name) => !isGiven(name) && (place.inherited[name] ?? '') !== ''),
    files: files.flat(),
    elsewhere,
    missingKey: named === undefined || isGiven(named) || elsewhere !== null ? null : named,
  };
}

async function isFilled(path: string): Promise<boolean> {
  try {
    return (await stat(path)).size > EMPTY_BYTES;
  } catch {
    return false;
  }
}

/** A file that cannot be read may name one too. */
async function settingsWith({ elsewhere = [] }: LoginRule, paths: readonly string[]): Promise<string | null> {
  for (const path of paths) {
    const text = await textIn(path);
    if (text === null || elsewhere.some((name) => text?.includes(name) === true)) return path;
  }
  return null;
}

/** Undefined: there is none. Null: it cannot be read. */
async function textIn(path: string): Promise<string | null | undefined> {
  try {
    return await ifPresent(readText(path, { most: MOST_BYTES }));
  } catch {
    return null;
  }
}
