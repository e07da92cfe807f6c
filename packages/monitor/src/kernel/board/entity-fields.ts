// Fields that every entity of the board has.
import { z } from 'zod';
import { Seq, Time } from '../http/api-route.ts';

export const key = z.string().describe('Unique among entities of its kind, and stable');

export const last = { lastSeq: Seq.describe('The last event about it'), lastAt: Time };
