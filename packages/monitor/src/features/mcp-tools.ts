// Every tool of the MCP server.
import type { Tool } from '../cli/kit/tool.ts';
import { agentActTool, agentTool } from './agents/mcp-tools.ts';
import { attentionActTool, attentionTool } from './attention/mcp-tools.ts';
import { boardTool } from './board/mcp-tools.ts';
import { eventsTool, waitForTool } from './events/mcp-tools.ts';
import { addFindingTool, findingsTool } from './findings/mcp-tools.ts';
import { statusTool } from './health/mcp-tools.ts';
import { summarizeTool } from './summaries/mcp-tools.ts';
import { ticketTool } from './tracker/mcp-tools.ts';
import { receiptTool, whyTool } from './why/mcp-tools.ts';

/** In the order in which a client sees them. */
export const mcpTools: readonly Tool[] = [
  statusTool,
  boardTool,
  eventsTool,
  waitForTool,
  ticketTool,
  whyTool,
  receiptTool,
  attentionTool,
  attentionActTool,
  agentTool,
  agentActTool,
  summarizeTool,
  findingsTool,
  addFindingTool,
];
