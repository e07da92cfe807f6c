// Hooks of svc in the settings of agents: whether they can still report.
import { type DoctorFinding, doctorFinding, hookedAgents } from '@svc/core';
import { hookScriptProblem } from '../../agent-hooks/script.ts';
import { hooksProblem, installCommand, readHookSettings } from '../../agent-hooks/settings.ts';
import { Failure } from '../../errors.ts';
import type { Session } from '../session.ts';
import type { Terminal } from '../terminal.ts';

export async function checkHooks(
  { environment, home }: Terminal,
  { machine }: Session,
): Promise<DoctorFinding[]> {
  const { dataDir } = machine;
  const script = hookScriptProblem(machine);
  const findings: DoctorFinding[] = [];
  for (const agent of hookedAgents) {
    const settings = await readHookSettings(agent, { dataDir, home, environment }).catch((error: unknown) => {
      if (error instanceof Failure) return error;
      throw error;
    });
    if (settings instanceof Failure) {
      const what = `the hooks of ${agent} could not be checked`;
      const { message: evidence, remedy = null } = settings;
      findings.push(doctorFinding('hooks', 'unknown', what, { evidence, remedy }));
      continue;
    }
    const problem = hooksProblem(settings, script);
    if (problem === undefined) continue;
    const remedy = `Run: ${installCommand(settings)}`;
    findings.push(
      doctorFinding('hooks', 'warning', `${agent} does not report to svc`, { evidence: problem, remedy }),
    );
  }
  return findings.length > 0 ? findings : [doctorFinding('hooks', 'ok', 'no hook is outdated')];
}
