import { sampleAttention, sampleBoard } from '@svc/testkit';
import { expect, test } from 'vitest';
import { receivedHandOvers } from './hand-overs.ts';

const at = '2026-01-02T09:00:00.000Z';
const handedOver = { to: 'mia', by: 'kim (two)', at, note: null, pending: true as const };

test('a person has an item when the heartbeat of a machine shows that it was received', () => {
  const board = sampleBoard({ attention: [sampleAttention({ handedOver })] });
  /** Published with version 10. */
  const publisher = {
    hadBefore: (version: number, _key: string, isIt: (value: unknown) => boolean) =>
      version > 10 && isIt({ handedOver }),
  };
  const lines = (person: string, heard: number) => receivedHandOvers(board, publisher, { person, heard });
  expect(lines('mia', 9)).toEqual([]);
  expect(lines('zoe', 11)).toEqual([]);
  expect(lines('mia', 11)).toMatchObject([
    { event: 'comms.attention_handed_over', detail: { to: 'mia', by: 'kim (two)', received: true } },
  ]);
});
