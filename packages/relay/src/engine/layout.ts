// What `provision` decided and every relay process must agree on. It is kept in the registry stream, so that
// a process needs to be told nothing but where NATS is.
export type Layout = {
  /** Never changes: the shard of a channel follows from it. */
  shards: number;
  maxDeliveriesPerChannel: number;
  maxBytesPerChannel: number;
};

/** Undefined when it is not a layout, or one of a newer kind. */
export function readLayout(text: string): Layout | undefined {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || Reflect.get(value, 'kind') !== 1) return undefined;
  const number = (name: string): number => {
    const field: unknown = Reflect.get(value, name);
    return typeof field === 'number' ? field : Number.NaN;
  };
  const layout = {
    shards: number('shards'),
    maxDeliveriesPerChannel: number('maxDeliveriesPerChannel'),
    maxBytesPerChannel: number('maxBytesPerChannel'),
  };
  return Object.values(layout).every((each) => Number.isSafeInteger(each) && each > 0) ? layout : undefined;
}

export function writeLayout(layout: Layout): string {
  return JSON.stringify({ kind: 1, ...layout });
}
