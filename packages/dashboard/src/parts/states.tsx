// The states of a screen other than its content: loading, empty, failed. The shell shows offline and past.
import { type ReactNode, useEffect, useState } from 'react';
import { ApiFailure } from '../api/client.ts';
import { Button } from './button.tsx';
import { Remedy } from './remedy.tsx';

/** Grey lines where content will be. After 2 s it shows what is loading. */
export function Loading({ what, lines = 4 }: { what: string; lines?: number }) {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 2_000);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div role="status" className="flex flex-col gap-3 p-1">
      <span className={late ? 'text-small text-muted' : 'sr-only'}>Loading {what}</span>
      {Array.from({ length: lines }, (_, line) => (
        <div
          key={line}
          aria-hidden="true"
          className="h-9 rounded-card bg-sunken"
          style={{ width: `${100 - line * 7}%` }}
        />
      ))}
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="flex flex-col items-start gap-2 rounded-card border border-line border-dashed p-6">
      <p className="text-lead font-medium text-ink">{title}</p>
      <div className="flex max-w-prose flex-col gap-2 text-muted">{children}</div>
    </div>
  );
}

export function Failed({ error, again }: { error: Error; again?: () => void }) {
  const { code, remedy } = error instanceof ApiFailure ? error : { code: 'bug', remedy: null };
  return (
    <div
      role="alert"
      className="flex flex-col items-start gap-2 rounded-card border border-broken-mark bg-broken-soft p-4"
    >
      <p className="font-medium whitespace-pre-line text-broken [overflow-wrap:anywhere]">{error.message}</p>
      <p className="font-mono text-tiny text-muted">{code}</p>
      <Remedy text={remedy} />
      {again && <Button onClick={again}>Try again</Button>}
    </div>
  );
}
