// A process of the bench that takes orders (`fork`) and answers each with one message, and how it is asked.
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';

export type Child<Order, Answer> = {
  pid: number;
  ask: (order: Order) => Promise<Answer>;
  end: () => void;
};

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export function startChild<Order extends object, Answer>(
  file: string,
  environment: Record<string, string> = {},
): Child<Order, Answer> {
  const child: ChildProcess = fork(join(import.meta.dirname, file), {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...environment },
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
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

/** In the child: every order is answered; an error ends the process, with the reason on the screen. */
export function answerOrders(carryOut: (order: never) => Promise<object>): void {
  process.on('message', (order) => {
    carryOut(order as never).then(
      (answer) => process.send?.(answer),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  });
}
