// A configuration field: a schema plus what a schema cannot express (which files may hold it, which environment
// variable overrides it, whether it is a secret). Every other view of the configuration (file schemas, explain, docs,
// table test) is derived from the fields.
import { z } from 'zod';

// The three configuration files. A project file is committed; the other two never are.
export const layers = ['project', 'secrets', 'global'] as const;
export type Layer = (typeof layers)[number];

export const layerTitles: Record<Layer, string> = {
  project: 'project file (layer 1)',
  secrets: 'secrets file (layer 2)',
  global: 'global file',
};

// Where most keys may stand.
export const inProject = ['project'] as const;
export const inSecrets = ['secrets'] as const;
export const inGlobal = ['global'] as const;

export type FieldFacts = {
  /** The files that may hold it, first one wins. The first is also where `config set` writes. */
  layers: readonly [Layer, ...Layer[]];
  description: string;
  /** What a valid value looks like, for messages. */
  expects: string;
  /** The environment variable that overrides every file. */
  env?: string;
  secret?: boolean;
  /** An address that is itself a credential: anyone who knows it can send there, or read. */
  opens?: 'channel' | 'notifier' | 'gateway';
  /** Converts an accepted spelling (a vendor's name) into the one that the product uses. */
  canonical?: (value: unknown) => unknown;
};

/** No part of its value may appear in a message. */
export function isHidden({ secret, opens }: Pick<FieldFacts, 'secret' | 'opens'>): boolean {
  return secret === true || opens !== undefined;
}

export const fieldFacts = z.registry<FieldFacts>();

type Kind<S extends z.ZodType> = { schema: S; expects: string };
type Place = Omit<FieldFacts, 'expects'>;

/** A field with a default: it always has a value. */
export function field<S extends z.ZodType>(
  kind: Kind<S>,
  place: Place & { default: z.output<S> },
): z.ZodDefault<S> {
  const { default: fallback, ...facts } = place;
  return annotate(kind.schema.default(fallback as never), kind.expects, facts);
}

/** A field that may have no value at all. */
export function optionalField<S extends z.ZodType>(kind: Kind<S>, place: Place): z.ZodOptional<S> {
  return annotate(kind.schema.optional(), kind.expects, place);
}

function annotate<S extends z.ZodType>(schema: S, expects: string, facts: Place): S {
  const described = schema.meta({ description: facts.description });
  fieldFacts.add(described, { ...facts, expects });
  return described;
}

const environmentNamePattern = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Set on most machines and easy to guess, so useless as a signing secret. */
const wellKnownVariables = [
  '_|CI|COLORTERM|COLUMNS|DBUS_SESSION_BUS_ADDRESS|DISPLAY|EDITOR|EUID|HOME|HOSTNAME|HOSTTYPE|IFS|LANG|LANGUAGE',
  'LC_[A-Z]+|LINES|LOGNAME|LS_COLORS|MACHTYPE|MAIL|MANPATH|NODE_ENV|NODE_OPTIONS|OLDPWD|OSTYPE|PAGER|PATH|PPID',
  'PS[0-9]|PWD|SHELL|SHELLOPTS|SHLVL|SSH_(?:AGENT_PID|AUTH_SOCK|CLIENT|CONNECTION|TTY)|TEMP|TERM|TERM_PROGRAM|TMP',
  'TMPDIR|TZ|UID|USER|USERNAME|VISUAL|WAYLAND_DISPLAY|XAUTHORITY|XDG_[A-Z_]+|[A-Z]+_PROXY|[a-z]+_proxy',
  'OTEL_ENABLED|PROMETHEUS_URL|LOKI_URL|SVC_AUTONOMOUS|SVC_SESSION_ID|SVC_[A-Z_]+_(?:DIR|FILE|PORT|ROOT|URL)',
].join('|');
const secretNamePattern = new RegExp(`^(?!(?:${wellKnownVariables})$)[A-Za-z_][A-Za-z0-9_]*$`);
/** A name that ends with `.git` is never reported by the code host, so such an entry would match nothing. */
const repoPattern = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})\/(?!.*\.git$)[A-Za-z0-9._-]{1,100}$/i;

export const repoSlug = z.string().regex(repoPattern, 'not owner/repo');

/** The kinds of value that a configuration can hold. */
export const kinds = {
  text: { schema: z.string().min(1), expects: 'a non-empty string' },
  flag: { schema: z.boolean(), expects: 'true or false' },
  list: { schema: z.array(z.string().min(1)), expects: 'a list of non-empty strings' },
  repo: { schema: repoSlug, expects: 'owner/repo' },
  repoList: { schema: z.array(repoSlug), expects: 'a list of owner/repo' },
  url: {
    schema: z.url({ protocol: /^https?$/ }),
    expects: 'an http or https URL',
  },
  /** Name of a variable that holds a secret. A project file must not be able to name `LANG`. */
  secretName: {
    schema: z.string().regex(secretNamePattern, 'not the name of a secret'),
    expects:
      'the name of an environment variable that holds a secret (letters, digits, underscores; not one that every shell sets, like HOME or LANG)',
  },
  environmentName: {
    schema: z.string().regex(environmentNamePattern, 'not the name of an environment variable'),
    expects: 'the name of an environment variable (letters, digits, underscores)',
  },
  key: {
    schema: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/, 'not a plain name'),
    expects: 'a plain name (letters, digits, dots, dashes, underscores)',
  },
  time: { schema: z.iso.datetime({ offset: true }), expects: 'an ISO 8601 time' },
} as const;

/** An amount of money. */
export const amount: Kind<z.ZodNumber> = {
  schema: z.number().positive(),
  expects: 'a number above 0',
};

export function wholeNumber(least: number): Kind<z.ZodInt> {
  return { schema: z.int().min(least), expects: `a whole number of at least ${least}` };
}

export function oneOf<const V extends readonly [string, ...string[]]>(values: V) {
  return { schema: z.enum(values), expects: `one of ${values.join(', ')}` };
}

export function orNull<S extends z.ZodType>(kind: Kind<S>): Kind<z.ZodNullable<S>> {
  return { schema: kind.schema.nullable(), expects: `${kind.expects}, or null` };
}
