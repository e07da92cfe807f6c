// svc feedback consent check | grant | status
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import {
  hereOption,
  openSession,
  refuseStrayProject,
  requireConfig,
  type Session,
} from '../../../cli/kit/session.ts';
import { AnswerIsNo, printJson, type Terminal } from '../../../cli/kit/terminal.ts';
import { verb, verbGroup } from '../../../cli/kit/verb.ts';
import type { ConfigFiles } from '../../../kernel/config/load.ts';
import { createConfigStore } from '../../../kernel/config/store.ts';
import type { Config } from '../../config.ts';
import { filingConsent, filingDestinations } from '../filing-consent.ts';

const KEY = 'svc.feedback.autoFile';
const PLACES_KEY = 'svc.feedback.consentFor';

export function feedbackVerbs(terminal: Terminal): CommandUnknownOpts {
  const consent = verbGroup(
    'consent',
    {
      summary: 'Show or grant consent to file findings without a prompt',
      example: 'svc feedback consent status',
    },
    [checkVerb(terminal), grantVerb(terminal), statusVerb(terminal)],
  );
  return verbGroup(
    'feedback',
    { summary: 'Show or grant consent to file findings', example: 'svc feedback consent status' },
    [consent],
  );
}

function checkVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('check', {
    summary: 'Exit 0 with consent, 1 without; print nothing',
    example: 'svc feedback consent check && echo granted',
  }).action(async () => {
    const { config } = await requireConfig(terminal, openSession(terminal));
    if (!filingConsent(config).granted) throw new AnswerIsNo();
  });
}

function grantVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('grant', {
    summary: 'Grant consent for this project',
    details: `Sets ${KEY} to true in the project file, and stores the destinations that you agree to in your own file (${PLACES_KEY}).`,
    example: 'svc feedback consent grant',
  })
    .option(...hereOption)
    .action(async ({ here }) => {
      const session = openSession(terminal);
      const loaded = await requireConfig(terminal, session);
      await refuseStrayProject(terminal, loaded.files, here === true);
      terminal.out(await grantConsent(session, loaded));
    });
}

/** Writes the consent to the project file and its destinations to the user's own; returns a message for the user. */
export async function grantConsent(
  { locks }: Session,
  { config, files }: { config: Config; files: ConfigFiles },
): Promise<string> {
  const store = createConfigStore({ locks, files });
  const places = filingDestinations(config);
  const known = config.svc.feedback.consentFor;
  await store.set('global', PLACES_KEY.split('.'), [...new Set([...known, ...places])]);
  const file = await store.set('project', KEY.split('.'), true);
  return `Findings will be filed at ${places.join(', else ')} at run end without a prompt (${file}). Revoke with: svc config set ${KEY} false`;
}

function statusVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('status', {
    summary: 'Show whether consent is granted, and in which file',
    example: 'svc feedback consent status --json',
  })
    .option('--json', 'print JSON')
    .action(async (options) => {
      const { config, values } = await requireConfig(terminal, openSession(terminal));
      const source = values.find((value) => value.key === KEY)?.source;
      const place = source?.kind === 'file' ? source.file : null;
      const consent = filingConsent(config);
      const unconfirmed = consent.granted ? [] : consent.unconfirmed;
      if (options.json) return printJson(terminal, { granted: consent.granted, source: place, unconfirmed });
      if (consent.granted) return terminal.out(`granted (${KEY} is true in ${place})`);
      terminal.out(
        unconfirmed.length === 0
          ? 'not granted: you are asked at the end of each run. Grant it: svc feedback consent grant'
          : `not granted: ${place} consents, but you have not agreed to ${unconfirmed.join(' and ')}. Grant it: svc feedback consent grant`,
      );
    });
}
