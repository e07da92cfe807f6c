// Writes src/api-types.ts from schemas/openapi.json; with --check it only says whether it has drifted.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ApiDescription, apiTypes } from './generate/api-types.ts';

const root = join(import.meta.dirname, '..', '..');
const description = join(root, 'schemas', 'openapi.json');
const file = join(import.meta.dirname, 'src', 'api-types.ts');
const wanted = laidOut(apiTypes(JSON.parse(readFileSync(description, 'utf8')) as ApiDescription));

if (!process.argv.includes('--check')) {
  writeFileSync(file, wanted);
  console.log('wrote packages/client/src/api-types.ts');
} else if (readFileSync(file, 'utf8') !== wanted) {
  console.error('packages/client/src/api-types.ts has drifted. Run: node packages/client/generate.ts');
  process.exitCode = 1;
}

function laidOut(source: string): string {
  const biome = join(root, 'node_modules', '@biomejs', 'biome', 'bin', 'biome');
  return execFileSync(process.execPath, [biome, 'format', `--stdin-file-path=${file}`], {
    cwd: root,
    input: source,
    encoding: 'utf8',
  });
}
