// svc doctor
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { doctorVerdict, doctorVerdictWords } from '@svc/core';
import { messageOf } from '@svc/lib/errors';
import { Failure } from '../../errors.ts';
import type { DoctorTools, Found } from '../doctor/check.ts';
import { doctorTools, examine } from '../doctor/examine.ts';
import { onOneLine, partWidth, printFinding } from '../doctor/print-finding.ts';
import { AnswerIsNo, paint, printJson, type Terminal } from '../terminal.ts';
import { verb } from '../verb.ts';

type Fixed = { part: string; what: string; done: string | null; failed: string | null };

export function doctorVerb(terminal: Terminal, tools: DoctorTools = doctorTools): CommandUnknownOpts {
  return verb('doctor', {
    summary: 'Try every part and say what is wrong, by what it was seen, and what mends it',
    example: ['svc doctor', 'svc doctor --fix', 'svc doctor --json'],
    route: 'POST /api/doctor, GET /api/health, GET /api/feeds',
  })
    .option('--fix', 'mend what can be mended without risk, and say what was done')
    .option('--json', 'print all findings as JSON')
    .addHelpText(
      'after',
      '\nIt writes one line to the event log, to read it back. Every fault that it knows: docs/doctor.md\nExit codes: 0 nothing but warnings, 1 something is broken, 2 usage',
    )
    .action(async ({ fix, json }) => {
      const first = await examine(terminal, tools);
      const fixed = fix ? await mend(first) : [];
      // What was mended is looked at again, not believed.
      const findings = fixed.length > 0 ? await examine(terminal, tools) : first;
      const verdict = doctorVerdict(findings);
      if (json) printJson(terminal, { ...verdict, findings: findings.map(withoutFix), fixed });
      else print(terminal, findings, fixed, fix === true);
      if (!verdict.ok) throw new AnswerIsNo();
    });
}

async function mend(findings: readonly Found[]): Promise<Fixed[]> {
  const fixed: Fixed[] = [];
  for (const { part, what, fix } of findings) {
    if (fix === undefined) continue;
    try {
      fixed.push({ part, what, done: await fix(), failed: null });
    } catch (error) {
      const remedy = error instanceof Failure && error.remedy !== undefined ? ` ${error.remedy}` : '';
      fixed.push({ part, what, done: null, failed: messageOf(error) + remedy });
    }
  }
  return fixed;
}

function print(terminal: Terminal, findings: readonly Found[], fixed: readonly Fixed[], fix: boolean): void {
  for (const { part, what, done, failed } of fixed) {
    const said = done === null ? `not fixed: ${what}: ${failed}` : `fixed: ${done}`;
    terminal.out(
      `${paint(terminal, done === null ? 'red' : 'green', part.padEnd(partWidth))}  ${onOneLine(said)}`,
    );
  }
  // Of what is well, only what could be turned on is worth a line.
  const shown = findings.filter(({ grade, remedy }) => grade !== 'ok' || remedy !== null);
  for (const finding of shown) printFinding(terminal, finding);
  terminal.out(doctorVerdictWords(doctorVerdict(findings)));
  const count = fix ? 0 : findings.filter(({ fixable }) => fixable).length;
  if (count > 0) terminal.out(`${count} of them can be mended by: svc doctor --fix`);
}

function withoutFix({ fix: _, ...finding }: Found): Omit<Found, 'fix'> {
  return finding;
}
