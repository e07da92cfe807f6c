import { expect, test } from 'vitest';
import { edgesOf, HEAD_HEIGHT, layoutGraph, layoutToFit, NODE_HEIGHT, NODE_WIDTH } from './graph-layout.ts';

test('a wave is a column, later waves are to the right', () => {
  const { nodes, waves } = layoutGraph([['A-1', 'A-2'], ['A-3']], []);
  const [first, second, third] = nodes;
  expect(first?.x).toBe(second?.x);
  expect(first?.y).toBeLessThan(second?.y ?? 0);
  expect(third?.x).toBeGreaterThan((first?.x ?? 0) + NODE_WIDTH);
  expect(waves).toHaveLength(2);
});

test('no two tickets overlap, however many a wave has', () => {
  const tickets = Array.from({ length: 75 }, (_, index) => `A-${index}`);
  const { nodes, width, height } = layoutGraph([tickets, ['B-1']], []);
  for (const [index, one] of nodes.entries())
    for (const other of nodes.slice(index + 1))
      expect(Math.abs(one.x - other.x) >= NODE_WIDTH || Math.abs(one.y - other.y) >= NODE_HEIGHT).toBe(true);
  for (const { x, y } of nodes) {
    expect(x + NODE_WIDTH).toBeLessThanOrEqual(width);
    expect(y + NODE_HEIGHT).toBeLessThanOrEqual(height);
  }
  expect(height).toBeLessThan(HEAD_HEIGHT + 13 * (NODE_HEIGHT + 10));
});

test('a ticket is beside the ticket that blocks it', () => {
  const edges = [
    { from: 'A-1', to: 'B-2' },
    { from: 'A-2', to: 'B-1' },
  ];
  const { nodes } = layoutGraph(
    [
      ['A-1', 'A-2'],
      ['B-1', 'B-2'],
    ],
    edges,
  );
  const y = (ticket: string): number | undefined => nodes.find((node) => node.ticket === ticket)?.y;
  expect(y('B-2')).toBe(y('A-1'));
  expect(y('B-1')).toBe(y('A-2'));
});

test('an edge to an unknown ticket is left out', () => {
  expect(layoutGraph([['A-1']], [{ from: 'A-1', to: 'X-9' }]).edges).toEqual([]);
  expect(layoutGraph([['A-1'], ['A-2']], [{ from: 'A-1', to: 'A-2' }]).edges).toHaveLength(1);
});

test('an empty run has a layout', () => expect(layoutGraph([], [])).toMatchObject({ width: 0, nodes: [] }));

test('dependencies come from the plan if it has them', () => {
  expect(edgesOf({ 'A-2': ['A-1'] })).toEqual([{ from: 'A-1', to: 'A-2' }]);
  for (const none of [null, undefined, {}]) expect(edgesOf(none)).toEqual([]);
});

test.each([
  ['too narrow a frame', 300, NODE_WIDTH],
  ['space for more', 700, 318],
  ['much space', 3_000, 360],
])('nodes use the width of %s', (_what, frame, nodeWidth) => {
  const layout = layoutToFit([['A-1', 'A-2'], ['A-3']], [{ from: 'A-1', to: 'A-3' }], frame);
  expect(layout.nodeWidth).toBe(nodeWidth);
  expect(layout.width).toBe(2 * nodeWidth + 64);
  expect(layout.edges[0]?.path).toMatch(`M ${nodeWidth} `);
});
