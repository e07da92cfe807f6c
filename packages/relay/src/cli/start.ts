// The first file to run: switches on the cache of compiled code, then loads the rest through it.
import { enableCompileCache } from 'node:module';

enableCompileCache();
await import('./main.ts');
