import { Check, Copy } from 'lucide-react';
import { type ButtonHTMLAttributes, useState } from 'react';
import { classNames } from './class-names.ts';

/** `quiet` has no border; `loud` is the primary button of a dialog; `danger` ends work. */
export function Button({
  quiet = false,
  loud = false,
  danger = false,
  className,
  ...rest
}: ButtonHTMLAttributes<HTMLButtonElement> & { quiet?: boolean; loud?: boolean; danger?: boolean }) {
  return (
    <button
      type="button"
      {...rest}
      className={classNames(
        'inline-flex h-8 items-center gap-1.5 rounded-control px-2.5 text-small font-medium whitespace-nowrap transition-colors disabled:cursor-not-allowed disabled:opacity-50 max-wide:h-11',
        loud
          ? 'border border-ink bg-ink text-surface hover:bg-text'
          : quiet
            ? 'text-ink hover:bg-sunken'
            : danger
              ? 'border border-broken-mark bg-surface text-broken hover:bg-broken-soft'
              : 'border border-line bg-surface text-ink hover:border-line-strong',
        className,
      )}
    />
  );
}

/** Copies a text and confirms it. */
export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [copied, setCopied] = useState<'yes' | 'no' | null>(null);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied('yes');
    } catch {
      // The browser may forbid it. The text is on the screen and can be selected.
      setCopied('no');
    }
    setTimeout(() => setCopied(null), 2_000);
  };
  const Icon = copied === 'yes' ? Check : Copy;
  return (
    <Button quiet onClick={() => void copy()} title={text}>
      <Icon aria-hidden="true" className="size-3.5" />
      <span aria-live="polite">
        {copied === 'yes' ? 'Copied' : copied === 'no' ? 'Select it and copy' : label}
      </span>
    </Button>
  );
}
