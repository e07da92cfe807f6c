// The command line: commands, flags and help, all from the table of settings.
import { stackOf } from '@svc/lib/errors';
import { Command, CommanderError } from 'commander';
import { provision } from '../provision/provision.ts';
import { exitCodesInWords, Failure, withEngine } from './failure.ts';
import { natsOptions, serve } from './serve.ts';
import {
  conformSettings,
  natsSettings,
  provisionSettings,
  readSettings,
  type Setting,
  serveSettings,
  type Values,
} from './settings.ts';
import { type Terminal, VERSION } from './terminal.ts';

const EXIT_USAGE = 2;
const EXIT_BUG = 70;
const MIB = 1024 * 1024;

export async function runCommandLine(terminal: Terminal, args: readonly string[]): Promise<number> {
  try {
    await buildProgram(terminal).parseAsync([...args], { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
    if (error instanceof Failure) {
      terminal.err(`error: ${error.message}`);
      if (error.remedy !== undefined) terminal.err(error.remedy);
      return error.exitCode;
    }
    const stack = stackOf(error);
    terminal.err(`This is a bug in svc-relay. Please report it with these lines:\n${stack}`);
    return EXIT_BUG;
  }
}

function buildProgram(terminal: Terminal): Command {
  const program = new Command('svc-relay')
    .description('Relay webhook deliveries through NATS JetStream, keeping what is acknowledged')
    .version(VERSION)
    .addHelpText('after', `\n${exitCodesInWords}`);
  const serving = program
    .command('serve')
    .description('Run the relay; any number can share one NATS')
    .addHelpText(
      'after',
      `
Every flag has a variable: --public-url is SVC_RELAY_PUBLIC_URL. Secrets have
only a variable: SVC_RELAY_NATS_USER and SVC_RELAY_NATS_PASSWORD, or
SVC_RELAY_NATS_TOKEN.

Examples:
  svc-relay serve --provision
  svc-relay serve --nats nats://n1:4222,nats://n2:4222,nats://n3:4222
  svc-relay serve --public-url https://relay.example --trusted-proxy 10.0.0.0/8

${exitCodesInWords}`,
    );
  addSettings(serving, { ...natsSettings, ...serveSettings });
  serving.action(() =>
    serve(
      terminal,
      readSettings({ ...natsSettings, ...serveSettings }, flagsOf(serving), terminal.environment),
    ),
  );
  const provisioning = program
    .command('provision')
    .description('Create or upgrade the streams; deliveries are kept')
    .addHelpText(
      'after',
      `
Examples:
  svc-relay provision --dry-run
  svc-relay provision --nats nats://n1:4222 --replicas 3 --max-age 72

${exitCodesInWords}`,
    );
  addSettings(provisioning, { ...natsSettings, ...provisionSettings });
  provisioning.action(() =>
    provisionStreams(
      terminal,
      readSettings({ ...natsSettings, ...provisionSettings }, flagsOf(provisioning), terminal.environment),
    ),
  );
  const conforming = program
    .command('conform')
    .argument('<url>', 'base address of the server, such as https://relay.example')
    .description('Check a server against docs/relay/protocol.md')
    .addHelpText(
      'after',
      `
It makes up to seven channels on the server, posts about 150 MiB to them and
takes half a minute on loopback. A row is "not offered" if the server does not
announce the extension or has switched off an option.

Examples:
  svc-relay conform http://127.0.0.1:7500
  svc-relay conform https://relay.example --create-key-file /run/secrets/key
  svc-relay conform http://127.0.0.1:7500 --rows P4.2,P4.3

${exitCodesInWords}`,
    );
  addSettings(conforming, conformSettings);
  conforming.action(async (url: string) => {
    // Loaded only here: a serving relay does not need it.
    const { conform } = await import('./conform.ts');
    await conform(terminal, url, readSettings(conformSettings, flagsOf(conforming), terminal.environment));
  });
  for (const command of [program, serving, provisioning, conforming]) prepare(command, terminal);
  return program;
}

function addSettings(command: Command, table: Readonly<Record<string, Setting<unknown>>>): void {
  for (const { flag, value, help, fallback } of Object.values(table)) {
    const hasDefault =
      (typeof fallback === 'string' && fallback !== '') || (typeof fallback === 'number' && fallback > 0);
    const inUnit = value?.startsWith('MiB') === true ? Number(fallback) / MIB : String(fallback);
    const byDefault = hasDefault ? ` (default ${inUnit})` : '';
    command.option(value === undefined ? `--${flag}` : `--${flag} <${value}>`, `${help}${byDefault}`);
  }
}

/** As they were typed. Commander turns `--no-limits` into the opposite of `limits`. */
function flagsOf(command: Command): Record<string, string | boolean | undefined> {
  const given = command.opts<Record<string, string | boolean | undefined>>();
  return Object.fromEntries(
    command.options.map((option) => {
      const value = given[option.attributeName()];
      const flag = (option.long ?? '').replace(/^--/, '');
      if (option.negate) return [flag, value === false ? true : undefined];
      return [flag, value];
    }),
  );
}

/** Commander keeps these per command: no process exit from inside, output through the terminal. */
function prepare(command: Command, terminal: Terminal): void {
  command.exitOverride().showHelpAfterError('(add --help for the flags and an example)');
  command.configureOutput({
    writeOut: (text) => terminal.out(text.trimEnd()),
    writeErr: (text) => terminal.err(text.trimEnd()),
  });
}

// `svc-relay provision`: creates the streams, or upgrades them in place. Prints what it did for each stream.

const HOUR_MS = 3_600_000;

async function provisionStreams(
  terminal: Terminal,
  settings: Values<typeof provisionSettings> & Values<typeof natsSettings>,
): Promise<void> {
  const nats = natsOptions(settings, terminal.environment);
  const steps = await withEngine(
    () =>
      provision({
        nats,
        prefix: settings.prefix,
        dryRun: settings.dryRun,
        shrink: settings.shrink,
        ...(settings.shards !== 0 && { shards: settings.shards }),
        ...(settings.replicas !== 0 && { replicas: settings.replicas }),
        ...(settings.placementTags.length > 0 && { placementTags: settings.placementTags }),
        ...(settings.maxAgeHours !== 0 && { maxAgeMs: settings.maxAgeHours * HOUR_MS }),
        ...(settings.maxDeliveries !== 0 && { maxDeliveriesPerChannel: settings.maxDeliveries }),
        ...(settings.maxChannelBytes !== 0 && { maxBytesPerChannel: settings.maxChannelBytes }),
        ...(settings.maxShardBytes !== 0 && { maxBytesPerShard: settings.maxShardBytes }),
      }),
    settings.nats,
  );
  const prefix = settings.dryRun ? 'would be ' : '';
  for (const { what, done, details } of steps) {
    terminal.out(`${what}: ${done === 'unchanged' ? '' : prefix}${done}`);
    for (const detail of details) terminal.out(`  ${detail}`);
  }
}
