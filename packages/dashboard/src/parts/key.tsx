/** The key of a button, where there is a keyboard. */
export function Key({ children }: { children: string }) {
  return (
    <kbd aria-hidden="true" className="rounded-sm bg-sunken px-1 text-tiny text-muted max-wide:hidden">
      {children}
    </kbd>
  );
}
