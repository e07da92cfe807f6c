// The board before it is there: still, in the shape of what comes.
import { useEffect, useState } from 'react';

const heights = [[112, 128, 96], [140, 112], [96, 128, 112], [112], [28, 28, 28, 28]];

export function BoardSkeleton() {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 2_000);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div role="status">
      <p className={late ? 'mb-3 text-small text-muted' : 'sr-only'}>
        Waiting for the daemon to read its log.
      </p>
      <div aria-hidden="true" className="grid gap-3 full:grid-cols-5 wide:grid-cols-3">
        {heights.map((column, number) => (
          <div
            key={column.join()}
            className={number > 1 ? 'flex flex-col gap-2 max-wide:hidden' : 'flex flex-col gap-2'}
          >
            <div className="my-2 h-4 w-24 rounded-control bg-sunken" />
            {column.map((height, row) => (
              <div key={row} className="rounded-card bg-sunken" style={{ height }} />
            ))}
          </div>
        ))}
      </div>
    </div>
  );
}
