// A child process of a bench (`fork`) that answers each order with one message, how to send orders, and the clock that
// it shares with its parent.
import { fork } from 'node:child_process';
import { endWithScript } from '../packages/testkit/src/script.ts';

export type Child<Order, Answer> = {
  pid: number;
  ask: (order: Order) => Promise<Answer>;
  end: () => void;
};

/** `file`: its path. */
export function startChild<Order extends object, Answer>(
  file: string,
  nodeOptions: readonly string[] = [],
): Child<Order, Answer> {
  const child = endWithScript(
    fork(file, {
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
      execArgv: [...nodeOptions],
    }),
  );
  return {
    pid: child.pid ?? 0,
    ask: (order) =>
      new Promise((resolve, reject) => {
        const failed = (code: number | null): void => reject(new Error(`${file} ended with ${code}`));
        child.once('exit', failed);
        child.once('message', (answer) => {
          child.off('exit', failed);
          resolve(answer as Answer);
        });
        child.send(order);
      }),
    end: () => void child.kill('SIGKILL'),
  };
}

/** In the child: answers every order; an error is printed and ends the process. */
export function answerOrders(execute: (order: never) => Promise<object>): void {
  process.on('message', (order) => {
    execute(order as never).then(
      (answer) => process.send?.(answer),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  });
}

/** Milliseconds since the machine started: a clock that all processes share. */
export function sharedNow(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

export function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}
