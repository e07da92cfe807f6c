// `svc doctor` in its own home, with parts of the machine replaced if a test wants it.
import { createCommand } from '@commander-js/extra-typings';
import { testTerminal, WAIT_MS } from '@svc/testkit';
import { AnswerIsNo } from '../src/cli/kit/terminal.ts';
import { doctorTools } from '../src/features/doctor/checks/doctor.ts';
import { doctorVerb } from '../src/features/doctor/verbs.ts';
import type { DoctorTools } from '../src/kernel/check/check.ts';

export type Patient = {
  home: string;
  environment?: Record<string, string>;
  folder?: string;
  tools?: Partial<DoctorTools>;
};

export async function runDoctor(
  { home, environment = {}, folder = home, tools = {} }: Patient,
  ...words: string[]
) {
  const terminal = {
    ...testTerminal({
      environment: { PATH: '/usr/bin:/bin', SVC_MONITOR_PORT: '0', HOME: home, ...environment },
    }),
    home,
    folder,
    now: () => new Date(),
  };
  const program = createCommand('svc').addCommand(
    doctorVerb(terminal, { ...doctorTools, timeoutMs: WAIT_MS, ...tools }),
  );
  const code = await program.parseAsync(['doctor', ...words], { from: 'user' }).then(
    () => 0,
    (error: unknown) => {
      if (error instanceof AnswerIsNo) return 1;
      throw error;
    },
  );
  return { code, printed: terminal.printed() };
}
