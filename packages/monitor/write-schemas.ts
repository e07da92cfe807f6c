// Writes every contract to schemas/ as JSON Schema, and the daemon's routes as OpenAPI; with --check it only says
// which ones have drifted.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { api } from './src/features/api.ts';
import { contracts, jsonSchemaOf } from './src/features/json-schemas.ts';
import { openapiDocument } from './src/kernel/http/openapi.ts';

const root = join(import.meta.dirname, '..', '..');
const folder = join(root, 'schemas');
const version = readFileSync(join(root, 'version.txt'), 'utf8').trim();
const wanted = new Map<string, string>([
  ...[...contracts].map(([name, schema]): [string, string] => [`${name}.json`, textOf(name, schema())]),
  ['openapi.json', `${JSON.stringify(openapiDocument({ version, api }), null, 2)}\n`],
]);
mkdirSync(folder, { recursive: true });
const present = new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
const changed = [...wanted].filter(([name, text]) => present.get(name) !== text).map(([name]) => name);
const leftover = [...present.keys()].filter((name) => !wanted.has(name));

if (process.argv.includes('--check')) {
  const drifted = [...changed, ...leftover];
  if (drifted.length > 0) {
    console.error(`schemas/ has drifted: ${drifted.join(', ')}. Run: npm run schemas`);
    process.exitCode = 1;
  }
} else {
  for (const name of changed) writeFileSync(join(folder, name), wanted.get(name) ?? '');
  for (const name of leftover) rmSync(join(folder, name));
  console.log(
    changed.length + leftover.length === 0 ? 'schemas/ is up to date' : `wrote ${changed.join(', ')}`,
  );
}

function textOf(name: string, schema: Parameters<typeof jsonSchemaOf>[0]): string {
  return `${JSON.stringify({ title: `svc ${name}`, ...(jsonSchemaOf(schema) as object) }, null, 2)}\n`;
}
