// npm run docs: builds the site into docs/site/dist. Any web server can serve it, from any path; so can a browser
// that opens docs/site/dist/index.html.
import { join } from 'node:path';
import { buildSite } from './build-site.ts';

const output = join(import.meta.dirname, 'dist');
await buildSite(output);
process.stdout.write(`${join(output, 'index.html')}\n`);
