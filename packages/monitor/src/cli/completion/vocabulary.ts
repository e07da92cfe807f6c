// All that completion knows without the daemon: the verbs, and the closed lists of values. A build writes it to a
// file, because reading that takes a millisecond and loading every verb a hundred.
import type { DescribedVerb } from '../describe-program.ts';
import type { Offered } from './find-place.ts';
import type { StaticKind } from './value-kinds.ts';

export const VOCABULARY_FILE = 'completion.json';

export type Vocabulary = { program: DescribedVerb; values: Readonly<Record<StaticKind, readonly Offered[]>> };
