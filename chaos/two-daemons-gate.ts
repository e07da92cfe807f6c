// Loaded before a daemon of two-daemons.ts (`node --import`): it stops right before the daemon's first attempt to lock
// its data root, reports that on file descriptor 3, and continues after a reply. After the attempt it reports again.
import { readSync, writeSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const GATE = 3;
const sqlite = process.getBuiltinModule('node:sqlite');
const { DatabaseSync } = sqlite;
let isThrough = false;

class GatedDatabase extends DatabaseSync {
  readonly #isLock: boolean;

  constructor(...[path, options]: ConstructorParameters<typeof DatabaseSync>) {
    const isLock = String(path).endsWith('/daemon.lock');
    if (isLock && !isThrough) {
      isThrough = true;
      writeSync(GATE, 'here\n');
      readSync(GATE, Buffer.alloc(1));
    }
    super(path, options);
    this.#isLock = isLock;
  }

  override exec(sql: string): void {
    super.exec(sql);
    if (this.#isLock && sql.includes('BEGIN EXCLUSIVE')) writeSync(GATE, 'locked\n');
  }
}

Object.assign(sqlite, { DatabaseSync: GatedDatabase });
syncBuiltinESMExports();
