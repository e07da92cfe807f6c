// Lines of the daemon's log for people: time, level, what happened, and what else is known. A line of another form, such as
// what a crash printed, stays as it is.
import { jsonIn } from '@svc/contract/payload-fields';
import { withoutControl } from '@svc/lib/control-characters';

const levels: Readonly<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
};
const WARN = 40;

export function readableLine(line: string): string {
  const fields = jsonIn(line);
  if (fields === undefined || typeof fields['msg'] !== 'string') return withoutControl(line);
  const { level, time, msg, pid: _pid, hostname: _hostname, ...others } = fields;
  const facts = Object.entries(others).map(([name, value]) => `${name}=${factOf(value)}`);
  const name = levels[Number(level)] ?? String(level);
  return withoutControl([String(time), name.padEnd(5), msg, ...facts].join(' ')).replaceAll('\n', ' ');
}

/** An error is shown as its message only. */
function factOf(value: unknown): string {
  if (typeof value === 'string') return value;
  const message: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'message') : null;
  return typeof message === 'string' ? message : JSON.stringify(value);
}

/** Why a daemon did not start: without what it reports anyway, unless there is nothing else. */
export function linesOfFailure(lines: readonly string[]): string[] {
  const grave = lines.filter((line) => {
    const level = jsonIn(line)?.['level'];
    return typeof level !== 'number' || level >= WARN;
  });
  return (grave.length > 0 ? grave : lines).map(readableLine);
}
