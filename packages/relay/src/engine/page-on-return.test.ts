import { expect, test } from 'vitest';
import { pageOnReturn } from './page-on-return.ts';

/** The channel's messages are at these sequences. */
function streamOf(...sequences: number[]) {
  const asked: (number | 'last')[] = [];
  const message = (seq: number | undefined) =>
    seq === undefined ? undefined : { seq, subject: 'x', data: new Uint8Array(1), check: `c${seq}` };
  return {
    asked,
    ask: {
      last: async () => {
        asked.push('last');
        return message(sequences.at(-1));
      },
      from: async (seq: number) => {
        asked.push(seq);
        return message(sequences.find((each) => each >= seq));
      },
    },
  };
}

const shown = async (sequences: number[], after: number, hasCheck: boolean) => {
  const { ask, asked } = streamOf(...sequences);
  const { messages, ...page } = await pageOnReturn(ask, after, hasCheck);
  return { ...page, messages: messages.map(({ seq }) => seq), requests: asked.length };
};

test('nothing missed: one request, and the delivery at the position is proven', async () => {
  expect(await shown([3, 7], 7, true)).toEqual({
    anchor: 'c7',
    oldest: 7,
    messages: [],
    end: true,
    requests: 1,
  });
  expect(await shown([3], 7, false)).toEqual({
    anchor: null,
    oldest: 3,
    messages: [],
    end: true,
    requests: 1,
  });
  expect(await shown([], 7, false)).toEqual({ anchor: null, messages: [], end: true, requests: 1 });
});

test('one missed: it is known that there is no more', async () => {
  expect(await shown([7, 9], 7, true)).toEqual({ anchor: 'c7', messages: [9], end: true, requests: 3 });
  expect(await shown([9], 7, true)).toEqual({ anchor: null, messages: [9], end: true, requests: 3 });
});

test('more missed: the first, and more to read', async () => {
  expect(await shown([7, 9, 11], 7, true)).toMatchObject({ anchor: 'c7', messages: [9], end: false });
});

test('where no delivery stands, the oldest that is kept is told', async () => {
  expect(await shown([9], 7, false)).toEqual({
    anchor: null,
    oldest: 9,
    messages: [9],
    end: true,
    requests: 2,
  });
  expect(await shown([3, 9, 12], 7, false)).toEqual({
    anchor: null,
    oldest: 3,
    messages: [9],
    end: false,
    requests: 3,
  });
});

test('a replica that is behind ends the page, without a delivery left out', async () => {
  const { ask } = streamOf(7, 9);
  const behind = { ...ask, from: async () => undefined };
  expect(await pageOnReturn(behind, 7, true)).toEqual({ anchor: null, messages: [], end: true });
});
