// Every failure of the command: the exit code, the message and the remedy.
const exitCodes = {
  'not-conforming': 1,
  usage: 2,
  'settings-invalid': 4,
  'engine-unreachable': 5,
  'server-unreachable': 5,
  'server-too-old': 6,
  'not-provisioned': 6,
  'provision-refused': 6,
  'cannot-listen': 6,
  'file-unusable': 6,
} as const;

export type FailureCode = keyof typeof exitCodes;

export class Failure extends Error {
  readonly code: FailureCode;
  readonly remedy: string | undefined;

  constructor(code: FailureCode, message: string, remedy?: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'Failure';
    this.code = code;
    this.remedy = remedy;
  }

  get exitCode(): number {
    return exitCodes[this.code];
  }
}

export const exitCodesInWords = `Exit codes:
  0   done, or stopped on request
  1   conform: the server does not follow the protocol
  2   usage: an unknown command, flag or value
  4   settings contradict each other, or a variable has an invalid value
  5   NATS, or the server to check, cannot be reached
  6   something is missing: a newer NATS, streams, a file, a free port
  70  a bug; please report it`;

// Failures of the engine as failures of the command.

export async function withEngine<T>(work: () => Promise<T>, servers: readonly string[]): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw endingOf(error, servers) ?? error;
  }
}

function endingOf(error: unknown, servers: readonly string[]): Failure | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  const nats = servers.join(',');
  const options = { cause: error };
  if (error.code === 'engine-not-provisioned')
    return new Failure(
      'not-provisioned',
      error.message,
      `Run once: svc-relay provision --nats ${nats}\nOr start with --provision.`,
      options,
    );
  if (error.code === 'server-too-old')
    return new Failure('server-too-old', `${nats}: ${error.message}.`, remedyOf(error), options);
  if (error.code === 'provision-refused')
    return new Failure('provision-refused', error.message, remedyOf(error), options);
  if (error.code === 'engine-unavailable')
    return new Failure(
      'engine-unreachable',
      `NATS cannot be used at ${nats}: ${error.message}`,
      'Check that a nats-server with JetStream runs there: nats-server --jetstream',
      options,
    );
  return undefined;
}

function remedyOf(error: Error): string | undefined {
  return 'remedy' in error && typeof error.remedy === 'string' ? error.remedy : undefined;
}
