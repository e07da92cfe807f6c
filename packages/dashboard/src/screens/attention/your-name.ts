// The name that goes with a person's word into the log. The browser does not know who sits before it; until
// somebody says so, the daemon writes "a person".
const KEY = 'svc.name';
const LONGEST = 100;

export function yourName(): string {
  return localStorage.getItem(KEY) ?? '';
}

export function keepYourName(name: string): void {
  const kept = name.trim().slice(0, LONGEST);
  if (kept === '') localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, kept);
}

/** What a request carries of it. */
export function speaker(): { by?: string } {
  const name = yourName();
  return name === '' ? {} : { by: name };
}
