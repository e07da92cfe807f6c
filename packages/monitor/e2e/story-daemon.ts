// A daemon that receives the story's deliveries directly, and what a `svc` process needs to find it.
import { createHmac, randomUUID } from 'node:crypto';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { WorkerStatus } from '@svc/contract/signal-file';
import {
  codehostExample,
  type JsonObject,
  mergedAt,
  patched,
  storyBranch,
  storyPullRequest,
  storyRepo,
  storyTicket,
  temporaryFolder,
} from '@svc/testkit';
import { expect } from 'vitest';
import { startInProcess } from './in-process-daemon.ts';

const SECRET = 'd'.repeat(64);

/** `settings` go into the project's file, null if it exists already; the project is the daemon's home. */
export async function storyDaemon(
  given: {
    settings?: object | null;
    environment?: Record<string, string>;
    /** The code host's feed. Deliveries still come directly. */
    channel?: string;
    home?: string;
    now?: () => Date;
  } = {},
) {
  const home = given.home ?? temporaryFolder();
  const svc = { projectKey: 'demo', project: { ticketPrefix: 'ENG' }, ...given.settings };
  mkdirSync(join(home, '.svc'), { recursive: true });
  if (given.settings !== null) writeFileSync(join(home, '.svc/config.json'), JSON.stringify({ svc }));
  if (given.channel !== undefined) {
    mkdirSync(join(home, '.config/svc'), { recursive: true, mode: 0o700 });
    const file = { svc: { monitor: { github: { smeeChannel: given.channel } } } };
    writeFileSync(join(home, '.config/svc/config.json'), JSON.stringify(file), { mode: 0o600 });
  }
  const daemon = await startInProcess({
    home,
    environment: { SVC_WEBHOOK_SECRET: SECRET, ...given.environment },
    ...(given.now && { now: given.now }),
  });
  const json = { 'Content-Type': 'application/json' };
  return {
    ...daemon,
    /** One of the story's examples, delivered and signed. */
    happens: async (name: string, patch: JsonObject = {}) => {
      // The deadline of a deploy counts from the merge.
      const { type, payload } = mergedAt(
        patched(codehostExample(name), name, patch),
        new Date().toISOString(),
      );
      const body = JSON.stringify(payload);
      const signature = createHmac('sha256', SECRET).update(body).digest('hex');
      const { status } = await daemon.post('/api/webhook', body, {
        ...json,
        'x-codehost-event': type,
        'x-codehost-delivery': randomUUID(),
        'x-hub-signature-256': `sha256=${signature}`,
      });
      expect(status).toBe(200);
    },
    /** An event reported by a helper. */
    report: async (fact: object) => {
      expect((await daemon.post('/api/events', JSON.stringify(fact), json)).status).toBe(200);
    },
    /** Writes the signal file of the story's worker. */
    setStatus: (status: WorkerStatus, more: object = {}) => {
      const file = join(home, 'svc/runs/run-1/workers', `${storyTicket}.json`);
      const now = new Date().toISOString();
      const signal = {
        ticket: storyTicket,
        orchestrator: 'run-1',
        workerName: 'run-1-42',
        status,
        phase: 1,
        startedAt: now,
        updatedAt: now,
        repo: storyRepo,
        branch: storyBranch,
        pr: { number: storyPullRequest },
        ...more,
      };
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(join(dirname(file), '.new'), JSON.stringify(signal));
      renameSync(join(dirname(file), '.new'), file);
    },
  };
}

/** The environment of a process that is started in this home. */
export function processEnvironment(home: string, more: Record<string, string> = {}): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    SVC_DATA_DIR: join(home, 'svc'),
    USER: 'kim',
    ...more,
  };
}
