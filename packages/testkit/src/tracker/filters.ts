// The tracker's filters, as far as the schema here has them: every comparator that is given must hold.

type Comparator = { eq?: unknown; eqIgnoreCase?: string; in?: unknown[]; contains?: string };
type DateComparator = { eq?: string; gt?: string; gte?: string; lt?: string; lte?: string };

export type NameFilter = { id?: Comparator; key?: Comparator; name?: Comparator; type?: Comparator } | null;

export type IssueFilter = {
  description?: Comparator;
  number?: Comparator;
  state?: NameFilter;
  team?: NameFilter;
  title?: Comparator;
  updatedAt?: DateComparator;
} | null;

export function passesNames(
  row: { id: string; key?: string; name?: string; type?: string },
  filter: NameFilter | undefined,
): boolean {
  return Object.entries(filter ?? {}).every(([name, comparator]) =>
    passes(row[name as keyof typeof row], comparator),
  );
}

export function passes(value: unknown, comparator: Comparator | undefined): boolean {
  const { eq, eqIgnoreCase, in: list, contains } = comparator ?? {};
  if (eq !== undefined && value !== eq) return false;
  if (eqIgnoreCase !== undefined && String(value).toLowerCase() !== eqIgnoreCase.toLowerCase()) return false;
  if (contains !== undefined && !(typeof value === 'string' && value.includes(contains))) return false;
  return list === undefined || list.includes(value);
}

export function passesTime(time: string, comparator: DateComparator | undefined): boolean {
  const { eq, gt, gte, lt, lte } = comparator ?? {};
  const at = Date.parse(time);
  if (eq !== undefined && at !== Date.parse(eq)) return false;
  if (gt !== undefined && !(at > Date.parse(gt))) return false;
  if (gte !== undefined && !(at >= Date.parse(gte))) return false;
  if (lt !== undefined && !(at < Date.parse(lt))) return false;
  return lte === undefined || at <= Date.parse(lte);
}
