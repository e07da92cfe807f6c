// The files that start our programs. From source, so that a change is tried without a build; with TEST_BUILT=1, as CI
// sets it after its build, the bundles that are shipped, which start in less than half the time.
import { join } from 'node:path';

const packages = join(import.meta.dirname, '../../..');
const isBuilt = process.env['TEST_BUILT'] === '1';

export const svcProgram = join(packages, 'monitor', isBuilt ? 'dist/svc.js' : 'src/cli/start.ts');
export const relayProgram = join(packages, 'relay', isBuilt ? 'dist/svc-relay.js' : 'src/cli/start.ts');
