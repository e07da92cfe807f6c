import { onTestFinished } from 'vitest';
import { type FakeTracker, startFakeTracker } from './fake-tracker.ts';

/** A fake tracker that lets one token in, and goes when the test that asked for it ends. */
export async function testTracker(token: string): Promise<FakeTracker> {
  const tracker = await startFakeTracker();
  onTestFinished(() => tracker.close());
  tracker.addToken(token);
  return tracker;
}
