// The environment variables that svc reads: those of the machine, those that win over a configuration key, and few more.
import { type ConfigNode, configTree, formatKey } from '@svc/core';
import { readMachine } from '../../config/environment.ts';

export type Variable = { name: string; meaning: string };

export function environmentVariables(): Variable[] {
  const machine = readMachine({}, '~').settings.map(({ variable, value, description }) => ({
    name: variable,
    meaning: value === '' ? `${description}.` : `${description}. Default: ${value}`,
  }));
  const others: Variable[] = [
    { name: 'SVC_NODE', meaning: 'The Node that bin/svc runs, when the one in PATH is not to be used.' },
    { name: 'SVC_AUTONOMOUS', meaning: 'When it is set, check-project-setup asks nothing and only warns.' },
    { name: 'NO_COLOR', meaning: 'When it is set, nothing is printed in colour.' },
  ];
  const named = [...machine, ...overrides(configTree, []), ...others];
  return named.filter(({ name }, index) => named.findIndex((other) => other.name === name) === index);
}

function overrides(node: ConfigNode, path: readonly string[]): Variable[] {
  if (node.kind === 'keyed') return [];
  if (node.kind === 'group')
    return [...node.children].flatMap(([name, child]) => overrides(child, [...path, name]));
  if (node.env === undefined) return [];
  return [{ name: node.env, meaning: `${node.description}. Wins over the key ${formatKey(path)}.` }];
}
