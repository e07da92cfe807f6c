import { useState } from 'react';
import { keepYourName, yourName } from './your-name.ts';

/** Who speaks: it goes into the log with each word. */
export function YourName() {
  const [name, setName] = useState(yourName);
  return (
    <label className="flex items-center gap-2 text-small text-muted">
      You are
      <input
        value={name}
        maxLength={100}
        placeholder="a person"
        autoComplete="off"
        onChange={({ target }) => {
          setName(target.value);
          keepYourName(target.value);
        }}
        className="h-8 w-36 rounded-control border border-line bg-surface px-2 text-small text-text placeholder:text-muted hover:border-line-strong max-wide:h-11"
      />
    </label>
  );
}
