// Requests for the same thing share one call. Each can cancel; when the last one has cancelled, the call is aborted.

export type SharedCalls<Value> = {
  /** Joins the call of this key, or starts it. */
  join: (key: string, signal: AbortSignal, start: (signal: AbortSignal) => Promise<Value>) => Promise<Value>;
  /** Aborts every running call. */
  abortAll: () => void;
};

type Call<Value> = { answer: Promise<Value>; waiting: number; abort: () => void };

export function createSharedCalls<Value>(): SharedCalls<Value> {
  const calls = new Map<string, Call<Value>>();

  function begin(key: string, start: (signal: AbortSignal) => Promise<Value>): Call<Value> {
    const controller = new AbortController();
    const forget = (): void => {
      if (calls.get(key) === call) calls.delete(key);
    };
    const call: Call<Value> = {
      waiting: 0,
      abort() {
        // Later requests get a new call.
        forget();
        controller.abort();
      },
      answer: start(controller.signal).finally(forget),
    };
    // Waiting requests get the error; if all have cancelled, no one does.
    call.answer.catch(() => undefined);
    calls.set(key, call);
    return call;
  }

  return {
    join(key, signal, start) {
      if (signal.aborted) return Promise.reject(signal.reason);
      const call = calls.get(key) ?? begin(key, start);
      call.waiting += 1;
      return new Promise((resolve, reject) => {
        const leave = (): void => {
          call.waiting -= 1;
          if (call.waiting === 0) call.abort();
          reject(signal.reason);
        };
        signal.addEventListener('abort', leave, { once: true });
        call.answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
      });
    },
    abortAll() {
      for (const call of calls.values()) call.abort();
    },
  };
}
