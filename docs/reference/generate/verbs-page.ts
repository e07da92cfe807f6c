// docs/reference/verbs.md: every verb of `svc` with its options, example and route, from the program itself.
import {
  type DescribedArgument,
  type DescribedOption,
  type DescribedVerb,
  everyVerb,
} from '../../../packages/monitor/src/cli/describe-program.ts';
import { describeSvc } from '../../../packages/monitor/src/cli/describe-svc.ts';
import { code, page, table, words } from './markdown.ts';

export async function verbsPage(): Promise<string> {
  const verbs = everyVerb(await describeSvc()).filter(({ path }) => path.length > 0);
  const overview = table(
    ['Verb', 'What it does'],
    verbs.map((verb) => [
      `[${code(nameOf(verb))}](#${['svc', ...verb.path].join('-')})`,
      words(verb.summary),
    ]),
  );
  return page('Verbs', [...intro, overview], verbs.map(verbSection));
}

const intro = [
  'Every verb of `svc`. `svc <verb> --help` prints the same. A verb with a route is a thin client of the daemon: with `--json` it prints the route’s answer ([routes](routes.md)). See also: [exit codes](exit-codes.md).',
  'The `.sh` names in `bin/` are the same verbs: `svc-monitor.sh` is `svc monitor`, `setup-webhooks.sh` is `svc setup-webhooks`, `check-project-setup.sh`, `resolve-tracker-ids.sh` and `add-finding.sh` likewise, `workflow-context.sh` is `svc context`, `feedback-consent.sh` is `svc feedback`.',
];

const nameOf = ({ path }: DescribedVerb): string => ['svc', ...path].join(' ');

function verbSection(verb: DescribedVerb): string {
  const takes = verb.arguments.filter(({ description }) => description !== '');
  const options = verb.options.filter(({ long }) => long !== '--help');
  return [
    `${'#'.repeat(Math.min(verb.path.length + 1, 3))} ${nameOf(verb)}`,
    `${words(verb.summary)}.`,
    ...(verb.details === '' ? [] : [paragraphs(verb.details)]),
    `Usage: ${code(verb.usage)}`,
    ['```sh', ...verb.examples, '```'].join('\n'),
    ...(takes.length === 0 ? [] : [table(['Argument', 'What it is'], takes.map(argumentRow))]),
    ...(options.length === 0 ? [] : [table(['Option', 'What it does', 'Default'], options.map(optionRow))]),
    ...(verb.route === null ? [] : [`Route: ${verb.route.split(', ').map(code).join(', ')}`]),
  ].join('\n\n');
}

/** Indented lines are commands or lists. */
function paragraphs(details: string): string {
  return details
    .split('\n')
    .map((line) => (line.startsWith('  ') ? `- ${code(line.trim())}` : words(line)))
    .join('\n\n');
}

function argumentRow({ name, description }: DescribedArgument): string[] {
  return [code(name), words(description)];
}

function optionRow({ flags, description, default: value }: DescribedOption): string[] {
  return [code(flags), words(description), value === null ? '' : code(value)];
}
