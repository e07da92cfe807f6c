// svc feedback consent check | grant | status
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { ConfigFiles } from '../../config/load.ts';
import { createConfigStore } from '../../config/store.ts';
import { AnswerIsNo } from '../endings.ts';
import { hereOption, openSession, refuseStrayProject, requireConfig, type Session } from '../session.ts';
import { printJson, type Terminal } from '../terminal.ts';
import { verb, verbGroup } from '../verb.ts';

const KEY = 'svc.feedback.autoFile';

export function feedbackVerbs(terminal: Terminal): CommandUnknownOpts {
  const consent = verbGroup(
    'consent',
    {
      summary: 'Consent to file findings at run end without a prompt',
      example: 'feedback-consent.sh status',
    },
    [checkVerb(terminal), grantVerb(terminal), statusVerb(terminal)],
  );
  return verbGroup(
    'feedback',
    { summary: 'Findings of runs and the consent to file them', example: 'svc feedback consent status' },
    [consent],
  );
}

async function autoFile(terminal: Terminal): Promise<boolean> {
  const { config } = await requireConfig(terminal, openSession(terminal));
  return config.svc.feedback.autoFile;
}

function checkVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('check', {
    summary: 'Say nothing; exit 0 with consent, 1 without',
    example: 'feedback-consent.sh check && echo granted',
  }).action(async () => {
    if (!(await autoFile(terminal))) throw new AnswerIsNo();
  });
}

function grantVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('grant', {
    summary: `Set ${KEY} to true in the project file`,
    example: 'feedback-consent.sh grant',
  })
    .option(...hereOption)
    .action(async ({ here }) => {
      const session = openSession(terminal);
      const { files } = await requireConfig(terminal, session);
      await refuseStrayProject(terminal, files, here === true);
      terminal.out(await grantConsent(session, files));
    });
}

/** Writes the consent to the project file; returns what to tell the person. */
export async function grantConsent({ locks }: Session, files: ConfigFiles): Promise<string> {
  const file = await createConfigStore({ locks, files }).set('project', KEY.split('.'), true);
  return `Findings will be filed at run end without a prompt (${file}). Revoke with: svc config set ${KEY} false`;
}

function statusVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('status', {
    summary: 'Whether consent is given, and where that is written',
    example: 'feedback-consent.sh status --json',
  })
    .option('--json', 'print JSON')
    .action(async (options) => {
      const { values } = await requireConfig(terminal, openSession(terminal));
      const resolved = values.find((value) => value.key === KEY);
      const granted = resolved?.value === true;
      const place = resolved?.source.kind === 'file' ? resolved.source.file : null;
      if (options.json) return printJson(terminal, { granted, source: place });
      terminal.out(
        granted ? `granted (${KEY} is true in ${place})` : 'not granted: you are asked at each run end',
      );
    });
}
