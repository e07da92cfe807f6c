// A verb that asks one route of the daemon, declared by the route: the verb's arguments and options are fields of the
// request, and `--json` prints the answer as it is.
import { type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import type { Operations } from '@svc/client';
import type { TeamCommand } from '../../features/team/command.ts';
import { needDaemon, requestedBy } from './daemon.ts';
import type { DaemonClient } from './daemon-client.ts';
import { commandMachine, onMachineOption } from './on-machine.ts';
import { AnswerIsNo, printJson, type Terminal } from './terminal.ts';
import { type VerbHelp, verb } from './verb.ts';

type RouteName = { [M in keyof Operations]: `${M} ${keyof Operations[M] & string}` }[keyof Operations];
type Operation<R> = R extends `${infer M extends keyof Operations} ${infer P}`
  ? Operations[M][P & keyof Operations[M]]
  : never;
type Fields<Part> = Part extends object ? keyof Part & string : never;
type FieldOf<O> = O extends { params: infer P; query: infer Q; body: infer B }
  ? Fields<P> | Fields<Q> | Fields<B>
  : never;
type AnswerOf<O> = O extends { answer: infer A } ? A : never;

/** An argument, `<ticket>`, or an option that has the name of the field; with its description and its default. */
type Field = readonly [flags: string, description?: string, unlessGiven?: string];

export const ofTicket = { ticket: ['<ticket>'] } as const;
export const ofWorker = {
  ...ofTicket,
  orchestrator: ['--orchestrator <run>', 'agent of this run (default: the newest)'],
} as const;

/** As commander has read them: what the verb does not require may be missing. */
type Given<R> = { readonly [Name in FieldOf<Operation<R>>]: string } & {
  readonly [unsent: string]: string | undefined;
};

type RouteVerb<R extends RouteName> = Omit<VerbHelp, 'route'> & {
  fields?: { readonly [Name in FieldOf<Operation<R>>]?: Field };
  /** Options that are not sent. */
  unsent?: Readonly<Record<string, Field>>;
  /** Fields whose option must be given. */
  required?: readonly string[];
  /** Sends the name of the user. */
  acts?: true;
  /** Sent in any case. */
  also?: object;
  /** With `--machine`, this is asked of another machine of the team instead. */
  remote?: (given: Given<R>) => TeamCommand;
  print: (
    terminal: Terminal,
    answer: AnswerOf<Operation<R>>,
    given: Given<R>,
    daemon: DaemonClient,
  ) => unknown;
  /** The part of the answer that `--json` prints. */
  json?: (answer: AnswerOf<Operation<R>>) => unknown;
  /** Ends with exit code 1. */
  isNo?: (answer: AnswerOf<Operation<R>>) => boolean;
};

export function routeVerb<R extends RouteName>(
  name: string,
  route: R,
  { fields = {}, unsent = {}, required = [], acts, also, remote, print, json, isNo, ...help }: RouteVerb<R>,
): (terminal: Terminal) => CommandUnknownOpts {
  const [method, path = ''] = route.split(' ');
  return (terminal) => {
    const own = route.replaceAll(/\{(\w+)\}/g, ':$1');
    const command: CommandUnknownOpts = verb(name, {
      ...help,
      route: remote ? `${own}, POST /api/team/commands` : own,
    });
    const places: string[] = [];
    for (const [field, [flags, description, unlessGiven]] of Object.entries<Field>({
      ...fields,
      ...unsent,
    })) {
      if (flags.startsWith('-'))
        command.addOption(
          new Option(flags, description).default(unlessGiven).makeOptionMandatory(required.includes(field)),
        );
      else {
        command.argument(flags, description);
        places.push(field);
      }
    }
    if (remote) command.option(...onMachineOption);
    return command.option('--json', 'print JSON').action(async () => {
      const { json: isJson, ...options } = command.opts() as { json?: true };
      const given = {
        ...options,
        ...Object.fromEntries(places.map((field, at) => [field, command.processedArgs[at]])),
      } as Given<R>;
      const { machine } = given;
      if (remote && machine !== undefined)
        return commandMachine(terminal, machine, remote(given), { json: isJson });
      const sent = Object.entries({ ...given, ...also, ...(acts && requestedBy(terminal)) }).filter(
        ([field]) => !(field in unsent),
      );
      const inPath = ([field]: [string, unknown]): boolean => path.includes(`{${field}}`);
      const params = Object.fromEntries(sent.filter(inPath));
      const rest = Object.fromEntries(sent.filter((entry) => !inPath(entry)));
      const daemon = await needDaemon(terminal);
      const ask = (method === 'GET' ? daemon.get : daemon.post) as (
        path: string,
        request: object,
      ) => Promise<AnswerOf<Operation<R>>>;
      const answer = await ask(path, { params, [method === 'GET' ? 'query' : 'body']: rest });
      if (isJson) printJson(terminal, json ? json(answer) : answer);
      else await print(terminal, answer, given, daemon);
      if (isNo?.(answer)) throw new AnswerIsNo();
    });
  };
}
