// svc check-project-setup
import { resolve } from 'node:path';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { setupJson, setupLine } from '../../../cli/kit/print.ts';
import { AnswerIsNo, printJson, type Terminal } from '../../../cli/kit/terminal.ts';
import { verb } from '../../../cli/kit/verb.ts';
import { checkVerdict, type SetupFinding } from '../../../kernel/check/finding.ts';
import type { Host } from '../../../kernel/instance/control.ts';
import { checkProjectSetup } from '../checks.ts';

export function checkProjectSetupVerb(terminal: Terminal, host?: Pick<Host, 'program'>): CommandUnknownOpts {
  return verb('check-project-setup', {
    summary: 'Check that a project is ready for a run, and register it',
    details:
      'At a terminal it offers to start the daemon; without one, or with SVC_AUTONOMOUS set, it only warns.\nExit codes: 0 nothing but warnings, 1 an error, 2 usage',
    example: ['svc check-project-setup', 'SVC_AUTONOMOUS=1 svc check-project-setup --json'],
    route: 'GET /api/health',
  })
    .option('--json', 'print all findings as JSON')
    .option('--project <folder>', 'project folder (default: found from here upwards)')
    .action(async (options) => {
      const inside = { ...terminal, folder: resolve(terminal.folder, options.project ?? '.') };
      const findings: SetupFinding[] = [];
      for await (const finding of checkProjectSetup(inside, host)) {
        findings.push(finding);
        if (!options.json) terminal.out(setupLine(terminal, finding));
      }
      const { ok, warnings, broken: errors } = checkVerdict(findings);
      if (options.json) printJson(terminal, { ok, warnings, errors, findings: findings.map(setupJson) });
      else if (errors + warnings === 0) terminal.out('Everything is ready.');
      else terminal.out(`${countOf(errors, 'error')}, ${countOf(warnings, 'warning')}.`);
      if (!ok) throw new AnswerIsNo();
    });
}

function countOf(count: number, word: string): string {
  return `${count === 0 ? 'No' : count} ${word}${count === 1 ? '' : 's'}`;
}
