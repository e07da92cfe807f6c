import type { SearchName } from '../shell/link-to.ts';
import { useAddressText } from './search-field.tsx';

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
