// The program that agents run as their hook: a small shell script in the data folder. It starts `svc hook` in the
// background and ends at once, so no agent waits for svc, whether svc answers or not. Only the hook of `--answer` waits, while
// the agent asks at its terminal too. The settings of the agents contain only its path, so an update of svc does not change
// them.
import { randomBytes } from 'node:crypto';
import { isAbsolute, join, resolve } from 'node:path';
import { parsedJson } from '@svc/contract/payload-fields';
import { ifPresent } from '@svc/lib/files';
import { isThere, readText, stat } from '@svc/lib/paths';
import { shellQuoted } from '@svc/lib/shell-quoted';
import { system } from '@svc/lib/system';
import { z } from 'zod';
import { hookTokenFile, readHookToken } from '../../../kernel/access/token-file.ts';
import type { Machine } from '../../../kernel/config/environment.ts';
import { writeFileAtomically, writeSecretFile } from '../../../kernel/disk/atomic-write.ts';

export const hookScript = (dataDir: string): string => join(dataDir, 'svc-agent-hook');

/** Writes the script, and the token if there is none. */
export async function writeHookScript(machine: Machine, program: readonly string[]): Promise<void> {
  const { dataDir } = machine;
  if (readHookToken(dataDir) === undefined)
    await writeSecretFile(hookTokenFile(dataDir), randomBytes(32).toString('base64url'));
  await writeFileAtomically(hookScript(dataDir), scriptText(machine, program), {
    mode: 0o700,
    folderMode: 0o700,
  });
}

/** Why installed hooks report nothing; undefined when they can report. */
export async function hookScriptProblem(machine: Machine): Promise<string | undefined> {
  const { dataDir } = machine;
  const file = hookScript(dataDir);
  const script = await ifPresent(readText(file));
  if (script === undefined) return `${file} does not exist`;
  const program = programIn(script);
  if (program === undefined || script !== scriptText(machine, program))
    return `${file} is not what this version of svc writes`;
  for (const word of program)
    if (isAbsolute(word) && !(await isThere(word))) return `${file} starts ${word}, which does not exist`;
  if (readHookToken(dataDir) === undefined) return `${hookTokenFile(dataDir)} does not exist or is empty`;
  const mode = (await stat(hookTokenFile(dataDir))).mode & 0o777;
  return (mode & 0o077) === 0 ? undefined : `other users can read ${hookTokenFile(dataDir)}`;
}

function programIn(script: string): string[] | undefined {
  const words = /^# Starts: (.+)$/m.exec(script)?.[1];
  return z.array(z.string()).safeParse(parsedJson(words ?? '')).data;
}

/**
 * The shells between the agent and this script end with it, so the agent is the first process above that is not a shell.
 */
function scriptText(machine: Machine, program: readonly string[], { readParent } = system): string {
  const [node = '', ...rest] = program;
  const start = [node, ...rest].map(shellQuoted).join(' ');
  return `#!/bin/sh
# Written by: svc hooks install. Reports to svc what a coding agent does, and does not delay it.
# Starts: ${JSON.stringify(program)}
# $1: the agent, $2: its event, $3: answer, if it prints what a person answers
if [ "$1" = gemini ]; then echo '{}'; fi
if [ -n "$SVC_TICKET" ] || [ ! -r ${shellQuoted(node)} ] || [ ! -r ${shellQuoted(rest.at(-1) ?? '')} ]; then
  # svc runs this agent itself, or svc is gone.
  cat >/dev/null
  exit 0
fi
pid=$PPID agent=
for _ in 1 2 3 4; do
  ${readParent} || break
  case $name in
    '(sh)' | '(bash)' | '(dash)' | '(zsh)') pid=$parent ;;
    *) agent=$pid; break ;;
  esac
done
if [ "$3" = answer ]; then
  exec ${start} hook "$1" "$2" ${shellQuoted(resolve(machine.dataDir))} "$agent" "$3" 2>/dev/null
fi
exec 3<&0
${start} hook "$1" "$2" ${shellQuoted(resolve(machine.dataDir))} $agent <&3 3<&- >/dev/null 2>&1 &
exit 0
`;
}
