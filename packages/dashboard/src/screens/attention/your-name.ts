// The user's name, recorded in the log with each action. Without one the daemon writes "a person".
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

/** The field of a request that has the name. */
export function actor(): { by?: string } {
  const name = yourName();
  return name === '' ? {} : { by: name };
}
