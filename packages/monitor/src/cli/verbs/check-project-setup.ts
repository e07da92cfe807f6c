// svc check-project-setup
import { resolve } from 'node:path';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { type SetupFinding, setupChecks, setupVerdict } from '@svc/core';
import type { Host } from '../../control/control.ts';
import { setupFindings } from '../setup-checks/all.ts';
import { AnswerIsNo, paint, printJson, type Terminal } from '../terminal.ts';
import { plainText } from '../text.ts';
import { verb } from '../verb.ts';

const colours = { ok: 'green', warning: 'yellow', error: 'red' } as const;
const levelWidth = Math.max(...Object.keys(colours).map((level) => level.length));
const checkWidth = Math.max(...setupChecks.map((check) => check.length));

export function checkProjectSetupVerb(terminal: Terminal, host?: Pick<Host, 'program'>): CommandUnknownOpts {
  return verb('check-project-setup', {
    summary: 'Check what a project needs before a run, register it, and see that the daemon runs',
    example: ['check-project-setup.sh', 'SVC_AUTONOMOUS=1 check-project-setup.sh --json'],
    route: 'GET /api/health',
  })
    .option('--json', 'print all findings as JSON')
    .option('--project <folder>', 'the project (default: found from the current folder upwards)')
    .addHelpText(
      'after',
      '\nAt a terminal it asks whether to start the daemon; with SVC_AUTONOMOUS set, or without a terminal, it only warns.\nExit codes: 0 nothing but warnings, 1 an error, 2 usage',
    )
    .action(async (options) => {
      const inside = { ...terminal, folder: resolve(terminal.folder, options.project ?? '.') };
      const findings: SetupFinding[] = [];
      for await (const finding of setupFindings(inside, host)) {
        findings.push(finding);
        if (!options.json) terminal.out(findingLine(terminal, finding));
      }
      const verdict = setupVerdict(findings);
      if (options.json) printJson(terminal, { ...verdict, findings });
      else terminal.out(verdictLine(verdict));
      if (!verdict.ok) throw new AnswerIsNo();
    });
}

function findingLine(terminal: Terminal, { level, check, found, remedy }: SetupFinding): string {
  const mark = paint(terminal, colours[level], level.padEnd(levelWidth));
  const text = remedy === undefined ? found : `${found.replace(/\.$/, '')}. ${remedy}`;
  return `${mark}  ${check.padEnd(checkWidth)}  ${plainText(text.replaceAll(/\s*\n\s*/g, ' '))}`;
}

function verdictLine({ warnings, errors }: ReturnType<typeof setupVerdict>): string {
  if (errors + warnings === 0) return 'Everything is in place.';
  return `${counted(errors, 'error')}, ${counted(warnings, 'warning')}.`;
}

function counted(count: number, word: string): string {
  return `${count === 0 ? 'No' : count} ${word}${count === 1 ? '' : 's'}`;
}
