// Every tool, in the order in which a client sees them.
import type { Tool } from './tool.ts';
import { attentionActTool, attentionTool } from './tools/attention.ts';
import { boardTool } from './tools/board.ts';
import { eventsTool } from './tools/events.ts';
import { addFindingTool, findingsTool } from './tools/findings.ts';
import { statusTool } from './tools/status.ts';
import { summarizeTool } from './tools/summarize.ts';
import { receiptTool, whyTool } from './tools/ticket.ts';
import { waitForTool } from './tools/wait-for.ts';

export const tools: readonly Tool[] = [
  statusTool,
  boardTool,
  eventsTool,
  waitForTool,
  whyTool,
  receiptTool,
  attentionTool,
  attentionActTool,
  summarizeTool,
  findingsTool,
  addFindingTool,
];
