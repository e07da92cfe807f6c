// With the real /bin/sh: checks its output, and that no part of a value is ever executed.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { temporaryFolder } from '@svc/testkit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { setupVariables } from '../context/setup-variables.ts';
import { fillCommand } from './fill-command.ts';

const variablesFor = (branch: string) =>
  setupVariables('/wt/ABC-1', branch, { repository: { name: 'web' }, thoughts: {}, folderName: 'web' });

/** The command's output, in its own folder, which must stay empty. */
function printed(command: string, branch: string): string {
  const variables = variablesFor(branch);
  const folder = temporaryFolder();
  const environment = { PATH: process.env['PATH'], ...variables };
  const { stdout } = spawnSync('/bin/sh', ['-c', fillCommand(command, variables)], {
    cwd: folder,
    env: environment,
    encoding: 'utf8',
  });
  expect(readdirSync(folder), command).toEqual([]);
  return stdout;
}

const commandsInside = [
  '$(touch canary)',
  '`touch canary`',
  ';touch canary;',
  '\ntouch canary\n',
  '|touch canary',
  '$(id)',
];
const steering = '\' " \\ $ ${HOME} ${PROFILE} * # & ( ) < > ! EOF -c eval ABC-1 é 2'.split(' ');

const hostile = fc
  .array(fc.constantFrom(...commandsInside, ...steering, '\n', '\nEOF\n', ' ', '  '), {
    minLength: 1,
    maxLength: 8,
  })
  .map((parts) => parts.join(''));

/** A command, and what surrounds the value in its output. */
const commands: [string, string, string][] = [
  ["printf '<%s>' ${BRANCH_NAME}", '<', '>'],
  ['printf \'<%s>\' "${BRANCH_NAME}"', '<', '>'],
  ["printf '<%s>' '${BRANCH_NAME}'", '<', '>'],
  ["printf '<%s>' a'b${BRANCH_NAME}c'd", '<ab', 'cd>'],
  ["printf '<%s>' 'it'\\''s ${BRANCH_NAME}'", "<it's ", '>'],
  ['printf \'<%s>\' a"b${BRANCH_NAME}c"d', '<ab', 'cd>'],
  ["printf '<%s>' \"'${BRANCH_NAME}'\"", "<'", "'>"],
  ["printf '<%s>' '\"${BRANCH_NAME}\"'", '<"', '">'],
  ['name=${BRANCH_NAME}; printf \'<%s>\' "$name"', '<', '>'],
  ["name='${BRANCH_NAME}' && printf '<%s>' \"$name\"", '<', '>'],
  ["# don't\nprintf '<%s>' '${BRANCH_NAME}' # isn't", '<', '>'],
  ["printf '<%s>' \"$(printf %s. '${BRANCH_NAME}')\"", '<', '.>'],
  ['printf \'<%s>\' "$(printf %s. ${BRANCH_NAME})"', '<', '.>'],
  ['printf \'<%s>\' "$(printf %s. "${BRANCH_NAME}")"', '<', '.>'],
  ['printf \'<%s>\' "`printf %s. ${BRANCH_NAME}`"', '<', '.>'],
  ["name=`printf %s. '${BRANCH_NAME}'`; printf '<%s>' \"$name\"", '<', '.>'],
  ["(cd . && printf '<%s>' '${BRANCH_NAME}')", '<', '>'],
  ['cat <<END\n<${BRANCH_NAME}>\nEND\n', '<', '>\n'],
  ["cat <<END >/dev/null; printf '<%s>' '${BRANCH_NAME}'\nit's\nEND\n", '<', '>'],
  ["case x in x) printf '<%s>' '${BRANCH_NAME}';; esac", '<', '>'],
  ["echo $((1+1)) >/dev/null; printf '<%s>' ${BRANCH_NAME}", '<', '>'],
  // Read by another shell.
  ['sh -c \'printf "<%s>" "${BRANCH_NAME}"\'', '<', '>'],
  ['sh -ec "printf \'<%s>\' \\"${BRANCH_NAME}\\""', '<', '>'],
  ['eval \'printf "<%s>" "${BRANCH_NAME}"\'', '<', '>'],
  ['eval printf \'"<%s>"\' \\"${BRANCH_NAME}\\"', '<', '>'],
];

test.each(commands)('a value stays unchanged and is never executed: %s', (command, before, after) => {
  fc.assert(
    fc.property(hostile, (branch) => {
      expect(printed(command, branch)).toBe(`${before}${branch}${after}`);
    }),
    { numRuns: 12, examples: [['$(touch canary)'], ['`touch canary`'], ["';touch canary;'"], ['ABC-1']] },
  );
});

/** As git allows it for a branch: without blanks, at which the shell would split after an open quote. */
const branchName = hostile.map((text) =>
  text.replaceAll('touch canary', 'touch${IFS}canary').replaceAll(/\s/g, ''),
);

test('for any quotes in a command, even open or wrong ones, no part of a value is executed', () => {
  const quotes = '\' " ` $( ) (( )) \\ ; # | && { } <<EOF EOF'.split(' ');
  const words = ["<<'EOF'", '${BRANCH_NAME}', '${TICKET_ID}', 'echo ', 'x', 'case x in', 'esac', '\n', ' '];
  const parts = fc.constantFrom(...quotes, ...words);
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 14 }), branchName, (some, branch) => {
      expect(() => printed(some.join(''), branch)).not.toThrow();
    }),
    { numRuns: 200 },
  );
});

test.each([
  [
    'all six',
    "echo '${WORKTREE_PATH} ${BRANCH_NAME} ${TICKET_ID} ${REPO_NAME} ${DIRECTORY} ${PROFILE}'",
    /^\/wt\/ABC-1 ABC-1 ABC-1 web web default\n$/,
  ],
  [
    'none of ours',
    "echo '${HOME} $BRANCH_NAME ${BRANCH_NAME:-x} $(id)' ${HOME}",
    /^\$\{HOME\} \$BRANCH_NAME \$\{BRANCH_NAME:-x\} \$\(id\)\n$/,
  ],
  [
    'escaped ones',
    'echo \\${BRANCH_NAME} "\\${BRANCH_NAME}" "$${BRANCH_NAME}"',
    /^\$\{BRANCH_NAME\} \$\{BRANCH_NAME\} \d+\{BRANCH_NAME\}\n$/,
  ],
])('%s', (_, command, wanted) => {
  expect(printed(command, 'ABC-1')).toMatch(wanted);
});

test('a harmless value is also inserted where the shell would not expand it', () => {
  expect(printed("cat <<'END'\n${BRANCH_NAME}\nEND\n", 'feat/ABC-1')).toBe('feat/ABC-1\n');
  expect(printed("cat <<'END'\n${BRANCH_NAME}\nEND\n", '$(id)')).toBe('${BRANCH_NAME}\n');
  expect(printed('node -pe \'"${BRANCH_NAME}"\'', 'feat/ABC-1')).toBe('feat/ABC-1\n');
});
