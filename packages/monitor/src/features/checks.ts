// What features let the doctor ask the daemon.

import type { AskingCheck } from '../cli/kit/daemon-client.ts';
import { retentionChecks } from './retention/checks.ts';

export const askingChecks: readonly AskingCheck[] = [...retentionChecks];
