// svc doctor
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { onOneLine, partWidth, printFinding } from '../../cli/kit/print.ts';
import { AnswerIsNo, paint, printJson, type Terminal } from '../../cli/kit/terminal.ts';
import { verb } from '../../cli/kit/verb.ts';
import type { DoctorTools } from '../../kernel/check/check.ts';
import { verdictWords } from '../../kernel/check/finding.ts';
import { type DoctorReport, doctorTools, fixAndReport, runDoctor } from './checks/doctor.ts';

export function doctorVerb(terminal: Terminal, tools: DoctorTools = doctorTools): CommandUnknownOpts {
  return verb('doctor', {
    summary: 'Check every component and explain how to fix problems',
    details:
      'It writes one line to the event log and reads it back. All faults that it finds: docs/guide/troubleshooting.md\nExit codes: 0 nothing but warnings, 1 something is broken, 2 usage',
    example: ['svc doctor', 'svc doctor --fix', 'svc doctor --json'],
    route: 'POST /api/doctor, GET /api/health, GET /api/feeds, GET /api/retention',
  })
    .option('--fix', 'fix what is safe to fix, and show what was done')
    .option('--json', 'print all findings as JSON')
    .action(async ({ fix, json }) => {
      const report = await fixAndReport(
        () => runDoctor(terminal, tools),
        () => fix === true,
      );
      if (json) printJson(terminal, report);
      else print(terminal, report, fix === true);
      if (!report.ok) throw new AnswerIsNo();
    });
}

function print(terminal: Terminal, report: DoctorReport, fix: boolean): void {
  const { findings } = report;
  for (const { part, what, done, failed } of report.fixed) {
    const outcome = done === null ? `not fixed: ${what}: ${failed}` : `fixed: ${done}`;
    terminal.out(
      `${paint(terminal, done === null ? 'red' : 'green', part.padEnd(partWidth))}  ${onOneLine(outcome)}`,
    );
  }
  // A check that is ok is only shown if there is something to do.
  const shown = findings.filter(({ grade, remedy }) => grade !== 'ok' || remedy !== null);
  for (const finding of shown) printFinding(terminal, finding);
  terminal.out(verdictWords(report));
  const count = fix ? 0 : findings.filter(({ fixable }) => fixable).length;
  if (count > 0) terminal.out(`Fix ${count} of them: svc doctor --fix`);
}
