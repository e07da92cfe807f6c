// The only error of a call: the daemon refused it, or did not respond.

/** The part of a `fetch` response that is read. */
export type Answered = Pick<Response, 'ok' | 'status' | 'text' | 'body'> & {
  headers: Pick<Response['headers'], 'get'>;
};

export class ApiFailure extends Error {
  override readonly name = 'ApiFailure';
  /** The HTTP status; 0 without a response. */
  readonly status: number;
  /** The daemon's code; `no-answer` without a response, `http-<status>` if the response has no code. */
  readonly code: string;
  /** How to fix it, if known; often a command. */
  readonly remedy: string | undefined;
  /** Seconds to wait before a retry, if the daemon sent them. */
  readonly retryAfter: number | undefined;

  constructor(
    given: {
      status: number;
      code: string;
      message: string;
      remedy?: string | undefined;
      retryAfter?: number | undefined;
    },
    options?: ErrorOptions,
  ) {
    super(given.message, options);
    this.status = given.status;
    this.code = given.code;
    this.remedy = given.remedy;
    this.retryAfter = given.retryAfter;
  }
}

/** From an error response: `{error, code, remedy?}`. Anything else did not come from the daemon. */
export async function failureIn(response: Answered): Promise<ApiFailure> {
  const fields = fieldsIn(await response.text());
  const { status } = response;
  return new ApiFailure({
    status,
    code: textAt(fields, 'code') ?? `http-${status}`,
    message: textAt(fields, 'error') ?? `The daemon answered ${status}.`,
    remedy: textAt(fields, 'remedy'),
    retryAfter: secondsIn(response.headers.get('Retry-After')),
  });
}

export function noAnswer(error: unknown): ApiFailure {
  return new ApiFailure(
    {
      status: 0,
      code: 'no-answer',
      message: 'The daemon is not responding.',
      remedy: 'Run: svc monitor status',
    },
    { cause: error },
  );
}

function fieldsIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function textAt(fields: unknown, name: string): string | undefined {
  const value: unknown =
    typeof fields === 'object' && fields !== null ? Reflect.get(fields, name) : undefined;
  return typeof value === 'string' ? value : undefined;
}

function secondsIn(header: string | null): number | undefined {
  return header !== null && /^\d{1,9}$/.test(header) ? Number(header) : undefined;
}
