// Every way in which the command ends other than well: the exit code, the words and the remedy.
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
  0   stopped as asked, or done
  1   conform: the server does not keep to the protocol
  2   usage: an unknown command, flag or value
  4   a setting contradicts another, or a variable has an impossible value
  5   NATS, or the server to check, cannot be reached
  6   something is missing: a newer NATS, streams, a file, a free port
  70  a bug; please report it`;
