// Loaded into a process with `node --import`: its clock is ahead by the milliseconds in the file that CLOCK_AHEAD names,
// as when somebody sets the clock of a machine. Timers go on as before.
import { existsSync, readFileSync } from 'node:fs';

const LOOK_EVERY_MS = 20;
const file = process.env['CLOCK_AHEAD'] ?? '';
const SystemDate = Date;
let ahead = 0;

function look(): void {
  ahead = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
}

class JumpingDate extends SystemDate {
  constructor(...given: readonly unknown[]) {
    super(...((given.length === 0 ? [JumpingDate.now()] : given) as [number]));
  }
  static override now(): number {
    return SystemDate.now() + ahead;
  }
}

look();
setInterval(look, LOOK_EVERY_MS).unref();
globalThis.Date = JumpingDate as unknown as DateConstructor;
