// A relay without a network, for tests that set the clock: each connection attempt gets the next answer of the script,
// and an open stream sends what the test sends.
type Request = { url: URL; headers: Record<string, string>; signal: AbortSignal };
type Answer = {
  status: number;
  header: (name: string) => string | undefined;
  body: AsyncIterable<Uint8Array>;
};

export type ScriptedStream = {
  say: (text: string | Uint8Array) => void;
  /** The relay closes the connection. */
  end: () => void;
  /** The connection breaks. */
  fail: (error: Error) => void;
  /** Whether our side has closed it. */
  abandoned: () => boolean;
};

/** `open` sends ready at once; `mute` is accepted and sends nothing; `hang` never answers. */
export type ScriptedConnection =
  | 'open'
  | 'mute'
  | 'hang'
  | Error
  | { status: number; headers?: Record<string, string>; ready?: string };

export type ScriptedConnect = {
  connect: (request: Request) => Promise<Answer>;
  requests: { url: URL; headers: Record<string, string> }[];
  streams: ScriptedStream[];
  /** The newest stream. */
  stream: () => ScriptedStream;
  /** The answers to the next attempts; afterwards every one is `open`. */
  next: (...script: ScriptedConnection[]) => void;
};

export function createScriptedConnect(): ScriptedConnect {
  const script: ScriptedConnection[] = [];
  const requests: ScriptedConnect['requests'] = [];
  const streams: ScriptedStream[] = [];

  async function connect({ url, headers, signal }: Request): Promise<Answer> {
    requests.push({ url, headers });
    const given = script.shift() ?? 'open';
    if (given instanceof Error) throw given;
    if (given === 'hang') return await untilAborted(signal);
    const { stream, body } = createStream(signal);
    streams.push(stream);
    const answer = typeof given === 'string' ? { status: 200 } : given;
    const fields: Record<string, string> = { 'content-type': 'text/event-stream', ...answer.headers };
    const ready = 'ready' in answer ? answer.ready : '{}';
    if (answer.status === 200 && given !== 'mute') stream.say(`event: ready\ndata: ${ready}\n\n`);
    return { status: answer.status, header: (name) => fields[name], body };
  }

  return {
    connect,
    requests,
    streams,
    stream() {
      const newest = streams.at(-1);
      if (newest === undefined) throw new Error('no connection yet');
      return newest;
    },
    next: (...given) => void script.push(...given),
  };
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')));
  });
}

const nothing = (): void => undefined;

function createStream(signal: AbortSignal): { stream: ScriptedStream; body: AsyncIterable<Uint8Array> } {
  const waiting: Uint8Array[] = [];
  let finish: { error?: Error } | null = null;
  let wake = nothing;
  const finishWith = (end: { error?: Error }): void => {
    finish ??= end;
    wake();
  };
  signal.addEventListener('abort', () => finishWith({ error: new Error('aborted') }));

  async function* body(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const chunk = waiting.shift();
      if (chunk !== undefined) yield chunk;
      else if (finish?.error !== undefined) throw finish.error;
      else if (finish !== null) return;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  }

  const stream: ScriptedStream = {
    say(text) {
      waiting.push(typeof text === 'string' ? Buffer.from(text) : text);
      wake();
    },
    end: () => finishWith({}),
    fail: (error) => finishWith({ error }),
    abandoned: () => signal.aborted,
  };
  return { stream, body: body() };
}
