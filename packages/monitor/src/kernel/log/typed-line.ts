// Gives a line read from disk the type of its topic. Events are checked when they are appended, but a log may have been
// edited by hand or written by another version, and a long detail is cut. So each field of a detail may be absent, and
// one that does not match the schema is left out. All lines of a log are folded at a start, so the checks are built from
// the schemas once, at the first line of a topic: a parse would cost more than the fold.
import { z } from 'zod';
import type { EventLine } from './event-line.ts';
import type { DetailOf, Topic, TopicTable } from './topics.ts';

type Unchecked = Pick<EventLine, 'event' | 'detail'>;

export type TypedLine<Line extends Unchecked = EventLine, Name extends Topic = Topic> = {
  [One in Name]: Omit<Line, 'event' | 'detail'> & { event: One; detail: Partial<DetailOf<One>> };
}[Name];

type Check = (value: unknown) => boolean;
type Checks = ReadonlyMap<string, Check>;

export type TypedLines = {
  /** The line itself if its whole detail is valid; undefined for a topic that this version does not know. */
  typedLine: <Line extends Unchecked>(line: Line) => TypedLine<Line> | undefined;
  /** The detail of a line with one of these topics. */
  detailOf: <Name extends Topic>(
    line: Unchecked,
    names: readonly Name[],
  ) => Partial<DetailOf<Name>> | undefined;
};

export function createTypedLines({ has, schemaOf }: TopicTable): TypedLines {
  const checksOfTopic = new Map<string, Checks>();

  function firstChecks(topic: string): Checks | undefined {
    if (!has(topic)) return undefined;
    const fields = Object.entries(schemaOf(topic).shape);
    const checks = new Map(fields.map(([name, field]) => [name, checkOf(field)] as const));
    checksOfTopic.set(topic, checks);
    return checks;
  }

  function typedLine<Line extends Unchecked>(line: Line): TypedLine<Line> | undefined;
  function typedLine(line: Unchecked): Unchecked | undefined {
    const { event, detail } = line;
    const checks = checksOfTopic.get(event) ?? firstChecks(event);
    if (checks === undefined) return undefined;
    for (const name in detail)
      if (checks.get(name)?.(detail[name]) === false)
        return has(event) ? { ...line, detail: fittingPart(schemaOf(event), detail) } : undefined;
    return line;
  }

  function detailOf<Name extends Topic>(
    line: Unchecked,
    names: readonly Name[],
  ): Partial<DetailOf<Name>> | undefined;
  function detailOf(line: Unchecked, names: readonly string[]): object | undefined {
    return names.includes(line.event) ? typedLine(line)?.detail : undefined;
  }

  return { typedLine, detailOf };
}

/** `isIn(line, 'codehost.pr_review')`, which is not `codehost.pr_review_thread`. */
export function isIn<Line extends { event: Topic }, Family extends string>(
  line: Line,
  family: Family,
): line is Extract<Line, { event: `${Family}.${string}` }> {
  return line.event.startsWith(`${family}.`);
}

function fittingPart(schema: z.ZodObject, detail: EventLine['detail']): EventLine['detail'] {
  const fields = Object.entries(detail).map(([name, value]) => {
    const field = Object.hasOwn(schema.shape, name) ? schema.shape[name] : undefined;
    return [name, field === undefined ? value : fitting(field, value)] as const;
  });
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

/** The valid items of a list, the valid entries of a record; undefined for any other invalid value. */
function fitting(schema: z.core.$ZodType, value: unknown): unknown {
  if (schema instanceof z.ZodOptional) return fitting(schema.unwrap(), value);
  if (schema instanceof z.ZodArray && Array.isArray(value))
    return value.map((item) => fitting(schema.element, item)).filter((item) => item !== undefined);
  if (schema instanceof z.ZodRecord && isObject(value)) {
    const entries = Object.entries(value).map(([name, item]) => [name, fitting(schema.valueType, item)]);
    return Object.fromEntries(entries.filter(([, item]) => item !== undefined));
  }
  return z.safeParse(schema, value).success ? value : undefined;
}

/** Hand-written checks for plain types, which are nearly all fields; the schema for the others. */
function checkOf(schema: z.core.$ZodType): Check {
  if (schema instanceof z.ZodOptional) return checkOf(schema.unwrap());
  if (schema instanceof z.ZodArray) {
    const check = checkOf(schema.element);
    return (value) => Array.isArray(value) && value.every(check);
  }
  if (schema instanceof z.ZodRecord && schema.valueType instanceof z.ZodUnknown) return isObject;
  if (schema instanceof z.ZodISODateTime) {
    const { pattern } = schema.def;
    return (value) => typeof value === 'string' && pattern?.test(value) === true;
  }
  if (schema instanceof z.ZodBoolean) return (value) => typeof value === 'boolean';
  if (schema instanceof z.ZodString && !schema.def.checks?.length)
    return (value) => typeof value === 'string';
  if (schema instanceof z.ZodNumberFormat && !schema.def.checks?.length) return Number.isSafeInteger;
  return (value) => z.safeParse(schema, value).success;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
