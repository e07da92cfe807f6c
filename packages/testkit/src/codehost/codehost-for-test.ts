// A fake code host for one test: it has a token, and goes when the test ends.
import { onTestFinished } from 'vitest';
import { temporaryFolder } from '../temporary-folder.ts';
import { type FakeCodehost, type FakeCodehostOptions, startFakeCodehost } from './fake-codehost.ts';

export const testToken = 'gho_0123456789abcdef';

export async function codehostForTest(options: Partial<FakeCodehostOptions> = {}): Promise<FakeCodehost> {
  const codehost = await startFakeCodehost({ folder: temporaryFolder('svc-codehost-'), ...options });
  onTestFinished(() => codehost.close());
  codehost.addToken(testToken);
  return codehost;
}
