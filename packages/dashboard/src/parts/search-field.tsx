// A filter that is kept in the URL, so a link shows the same.
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Search, X } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import type { SearchName } from '../shell/link-to.ts';

/** One search parameter of the URL, and a setter that adds no history entry. */
export function useAddressText(name: SearchName): [string, (value: string) => void] {
  const search = useSearch({ strict: false });
  const navigate = useNavigate();
  const set = (value: string): void => {
    void navigate({
      to: '.',
      search: (before) => ({ ...before, [name]: value === '' ? undefined : value }),
      replace: true,
    });
  };
  return [search[name] ?? '', set];
}

const SETTLE_MS = 200;

export function SearchField({
  name,
  label,
  placeholder,
}: {
  name: SearchName;
  label: string;
  placeholder: string;
}) {
  const [kept, keep] = useAddressText(name);
  const [text, setText] = useState(kept);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => setText(kept), [kept]);
  useEffect(() => {
    if (text === kept) return undefined;
    const timer = setTimeout(() => keep(text), SETTLE_MS);
    return () => clearTimeout(timer);
  });
  return (
    <div className="relative flex items-center max-wide:flex-1 max-wide:basis-40">
      <label className="flex items-center max-wide:w-full">
        <span className="sr-only">{label}</span>
        <Search aria-hidden="true" className="pointer-events-none absolute left-2.5 size-4 text-muted" />
        <input
          ref={field}
          type="search"
          value={text}
          onChange={(event) => setText(event.target.value)}
          placeholder={placeholder}
          className="h-8 w-56 rounded-control border border-line bg-surface pr-8 pl-8 text-small text-text placeholder:text-muted hover:border-line-strong max-wide:h-11 max-wide:w-full max-wide:pr-11 [&::-webkit-search-cancel-button]:hidden"
        />
      </label>
      {text !== '' && (
        <button
          type="button"
          aria-label="Clear"
          onClick={() => {
            setText('');
            keep('');
            field.current?.focus();
          }}
          className="absolute right-0 grid size-8 place-items-center rounded-control text-muted hover:text-text max-wide:size-11"
        >
          <X aria-hidden="true" className="size-4" />
        </button>
      )}
    </div>
  );
}

/** A select whose value is kept in the URL; empty means all. */
export function ChoiceField({
  name,
  label,
  all,
  options,
}: {
  name: SearchName;
  label: string;
  all: string;
  options: readonly { value: string; text: string }[];
}) {
  const [value, choose] = useAddressText(name);
  return (
    <label className="flex items-center gap-2 text-small text-muted">
      <span className="sr-only">{label}</span>
      <select
        value={value}
        onChange={(event) => choose(event.target.value)}
        className="h-8 max-w-56 rounded-control border border-line bg-surface px-2 text-small text-text hover:border-line-strong max-wide:h-11"
      >
        <option value="">{all}</option>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.text}
          </option>
        ))}
      </select>
    </label>
  );
}
