// The model vendors of one test, and a small run to ask them about.
import type { Board } from '@svc/core';
import { onTestFinished } from 'vitest';
import { sampleAttention, sampleBoard, sampleTicket, sampleWorker } from '../state/sample-board.ts';
import { type FakeModels, startFakeModels } from './fake-models.ts';

/** Gone with the test. */
export async function modelsForTest(key: string): Promise<FakeModels> {
  const models = await startFakeModels({ key });
  onTestFinished(models.close);
  return models;
}

/** The run `run-1`: ENG-1 is being implemented, ENG-2 has stalled and needs a person. */
export function boardWithRun(): Board {
  return sampleBoard({
    workers: [sampleWorker(), sampleWorker({ ticket: 'ENG-2', status: 'stalled' })],
    tickets: [sampleTicket(), sampleTicket({ ticket: 'ENG-2', title: 'Pay by invoice' })],
    attention: [sampleAttention({ ticket: 'ENG-2' })],
  });
}
