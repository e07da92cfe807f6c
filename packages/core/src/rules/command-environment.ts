// What a command of a rule sees of the environment: the ordinary variables, and what the line is about. Nothing else
// of ours: no webhook secret, no tracker token. Nothing of an event is ever an argument.
import type { Environment } from '../config/resolve.ts';
import type { EventLine } from '../log/event-line.ts';

const ordinary = ['PATH', 'HOME', 'LANG', 'USER', 'SHELL', 'TMPDIR'] as const;
const LONGEST_VALUE = 4096;

/** `SVC_RULE`, `SVC_EVENT_TOPIC`, `SVC_EVENT_SEQ`, and `SVC_EVENT_TICKET`, `SVC_EVENT_MERGE_SHA`, … for each field known. */
export function commandEnvironment(
  inherited: Environment,
  rule: string,
  { event, seq, ts, id, scope }: Pick<EventLine, 'event' | 'seq' | 'ts' | 'id' | 'scope'>,
): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const name of ordinary) {
    const value = inherited[name];
    if (value !== undefined) environment[name] = value;
  }
  const told = { topic: event, seq, ts, id, ...scope };
  environment['SVC_RULE'] = rule;
  for (const [name, value] of Object.entries(told))
    if (value !== undefined) environment[variableOf(name)] = plain(String(value));
  return environment;
}

/** `mergeSha` is `SVC_EVENT_MERGE_SHA`. */
function variableOf(name: string): string {
  return `SVC_EVENT_${name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

/** A variable cannot hold the character 0, and a program cannot be started with one that is too long. */
function plain(value: string): string {
  return value.replaceAll('\0', '').slice(0, LONGEST_VALUE);
}
