// The one way in which a call fails: the daemon refused it, or did not answer.

/** The part of an answer that is read; `fetch` gives it. */
export type Answered = Pick<Response, 'ok' | 'status' | 'text' | 'body'> & {
  headers: Pick<Response['headers'], 'get'>;
};

export class ApiFailure extends Error {
  override readonly name = 'ApiFailure';
  /** Of the answer; 0 when there was none. */
  readonly status: number;
  /** The daemon's code; `no-answer` when there was none, `http-<status>` when the daemon did not say it. */
  readonly code: string;
  /** How to fix it, where that is known; often a command. */
  readonly remedy: string | undefined;
  /** Seconds after which to try again, where the daemon said so. */
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

/** From an answer that is an error: `{error, code, remedy?}`. Anything else was not said by the daemon. */
export async function failureIn(response: Answered): Promise<ApiFailure> {
  const said = fieldsIn(await response.text());
  const { status } = response;
  return new ApiFailure({
    status,
    code: textAt(said, 'code') ?? `http-${status}`,
    message: textAt(said, 'error') ?? `The daemon answered ${status}.`,
    remedy: textAt(said, 'remedy'),
    retryAfter: secondsIn(response.headers.get('Retry-After')),
  });
}

export function noAnswer(error: unknown): ApiFailure {
  return new ApiFailure(
    {
      status: 0,
      code: 'no-answer',
      message: 'The daemon does not answer.',
      remedy: 'See whether it runs: svc monitor status',
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

function textAt(said: unknown, name: string): string | undefined {
  const value: unknown = typeof said === 'object' && said !== null ? Reflect.get(said, name) : undefined;
  return typeof value === 'string' ? value : undefined;
}

function secondsIn(header: string | null): number | undefined {
  return header !== null && /^\d{1,9}$/.test(header) ? Number(header) : undefined;
}
