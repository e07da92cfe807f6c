// The features that the daemon opens from the list, after the parts that are always there.

import type { OpenFeature } from '../kernel/feature.ts';
import { openArchive } from './archive/index.ts';
import { openOutbox } from './outbox/index.ts';
import { openRetention } from './retention/index.ts';
import { openTrace } from './trace/index.ts';
import { openWhy } from './why/index.ts';

export const openFeatures: readonly OpenFeature[] = [
  openArchive,
  openWhy,
  openTrace,
  openRetention,
  openOutbox,
];
