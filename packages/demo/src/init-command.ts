// What a user types next: `svc init` where a shell finds svc, else with the path of the svc that plays the demo.
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** `program` is the command that runs svc: node, its flags, the start file. */
export function initCommand(program: readonly string[], environment: { PATH?: string | undefined }): string {
  // npm adds these folders for the programs that it starts, and the user's shell has them not.
  const folders = (environment.PATH ?? '').split(delimiter).filter((one) => !/node_modules|_npx/.test(one));
  if (folders.some((folder) => folder !== '' && existsSync(join(folder, 'svc')))) return 'svc init';
  const start = program.at(-1) ?? '';
  const [clone, isClone] = start.split(/\/packages\/monitor\/(?:dist|src)\//, 2);
  if (isClone === undefined || clone === undefined) return 'npx svc-monitor init';
  const path = join(clone, 'bin', 'svc');
  return `${/^[\w/.-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`} init`;
}
