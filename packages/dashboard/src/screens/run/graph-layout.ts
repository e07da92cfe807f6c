// The layout of a run's tickets as a graph: a column for each wave, and an edge from a ticket to each ticket it blocks.
// A wave of many tickets takes several columns. Rows are ordered to reduce edge crossings.

export const NODE_WIDTH = 228;
/** Wide enough for most titles; wider nodes would only be empty. */
const MOST_NODE_WIDTH = 360;
export const NODE_HEIGHT = 52;
export const HEAD_HEIGHT = 44;
const ROW_GAP = 10;
const COLUMN_GAP = 16;
const WAVE_GAP = 64;
/** Rows per column before a wave takes another column; a very large wave grows both ways. */
const MOST_ROWS = 9;

export type Edge = { from: string; to: string };
export type GraphNode = { ticket: string; wave: number; x: number; y: number };
type GraphLayout = {
  width: number;
  nodeWidth: number;
  height: number;
  /** By index of the wave. */
  waves: { x: number; width: number }[];
  nodes: GraphNode[];
  edges: (Edge & { path: string })[];
};

/** `layoutGraph([['A-1'], ['A-2']], [{ from: 'A-1', to: 'A-2' }])` */
export function layoutGraph(
  waves: readonly (readonly string[])[],
  edges: readonly Edge[],
  nodeWidth = NODE_WIDTH,
): GraphLayout {
  const nodes = new Map<string, GraphNode>();
  const columnsOfWaves: GraphLayout['waves'] = [];
  let x = 0;
  for (const [wave, tickets] of waves.entries()) {
    const ordered = orderedByBlockers(tickets, edges, nodes);
    const most = Math.max(MOST_ROWS, Math.ceil(Math.sqrt(ordered.length)));
    const columns = Math.max(1, Math.ceil(ordered.length / most));
    const rows = Math.ceil(ordered.length / columns);
    for (const [index, ticket] of ordered.entries())
      nodes.set(ticket, {
        ticket,
        wave,
        x: x + Math.floor(index / rows) * (nodeWidth + COLUMN_GAP),
        y: HEAD_HEIGHT + (index % rows) * (NODE_HEIGHT + ROW_GAP),
      });
    const width = columns * nodeWidth + (columns - 1) * COLUMN_GAP;
    columnsOfWaves.push({ x, width });
    x += width + WAVE_GAP;
  }
  const all = [...nodes.values()];
  return {
    width: Math.max(0, x - WAVE_GAP),
    nodeWidth,
    height: Math.max(HEAD_HEIGHT, ...all.map(({ y }) => y + NODE_HEIGHT)),
    waves: columnsOfWaves,
    nodes: all,
    edges: edges.flatMap((edge) => {
      const from = nodes.get(edge.from);
      const to = nodes.get(edge.to);
      return from === undefined || to === undefined ? [] : [{ ...edge, path: pathOf(from, to, nodeWidth) }];
    }),
  };
}

/** The same with wider nodes, where the frame has space for them. */
export function layoutToFit(
  waves: readonly (readonly string[])[],
  edges: readonly Edge[],
  frameWidth: number,
): GraphLayout {
  const least = layoutGraph(waves, edges);
  const columns = new Set(least.nodes.map(({ x }) => x)).size;
  const space = NODE_WIDTH + Math.floor((frameWidth - least.width) / Math.max(1, columns));
  return space <= NODE_WIDTH ? least : layoutGraph(waves, edges, Math.min(space, MOST_NODE_WIDTH));
}

/** By the average row of their blockers; unblocked tickets keep their position. */
function orderedByBlockers(
  tickets: readonly string[],
  edges: readonly Edge[],
  placed: ReadonlyMap<string, GraphNode>,
): string[] {
  const weights = tickets.map((ticket, index) => {
    const rows = edges.flatMap(({ from, to }) => (to === ticket ? (placed.get(from)?.y ?? []) : []));
    const middle = rows.reduce((sum, y) => sum + y, 0) / rows.length;
    return {
      ticket,
      weight: rows.length === 0 ? HEAD_HEIGHT + index * (NODE_HEIGHT + ROW_GAP) : middle,
      index,
    };
  });
  return weights
    .toSorted((one, other) => one.weight - other.weight || one.index - other.index)
    .map(({ ticket }) => ticket);
}

function pathOf(from: GraphNode, to: GraphNode, nodeWidth: number): string {
  const [x1, y1] = [from.x + nodeWidth, from.y + NODE_HEIGHT / 2];
  const [x2, y2] = [to.x, to.y + NODE_HEIGHT / 2];
  const bend = Math.max(24, (x2 - x1) / 2);
  return `M ${x1} ${y1} C ${x1 + bend} ${y1}, ${x2 - bend} ${y2}, ${x2} ${y2}`;
}

/** An edge from each ticket to those that wait for it, where dependencies are known. */
export function edgesOf(blockedBy: Record<string, readonly string[]> | null | undefined): Edge[] {
  return Object.entries(blockedBy ?? {}).flatMap(([to, blockers]) => blockers.map((from) => ({ from, to })));
}
