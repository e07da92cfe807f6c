// Builds the vocabulary of completion from the program and the lists in core.

import { builtInAgents } from '../../features/agents/choice.ts';
import { configTree } from '../../features/configure.ts';
import { documentTypes } from '../../features/context/workflow-context.ts';
import { topics } from '../../features/topics.ts';
import { ticketPhases } from '../../features/tracker/ticket-phases.ts';
import { layers, layerTitles } from '../../kernel/config/field.ts';
import { formatKey } from '../../kernel/config/key-path.ts';
import type { ConfigNode } from '../../kernel/config/tree.ts';
import { describeSvc } from '../describe-svc.ts';
import type { Offered, Vocabulary } from './find-completions.ts';

export async function makeVocabulary(): Promise<Vocabulary> {
  return {
    program: await describeSvc(),
    values: {
      topic: bare(topics.names),
      'config-key': configKeys(configTree, []),
      layer: layers.map((layer) => ({ value: layer, description: layerTitles[layer] })),
      'document-type': bare(documentTypes),
      phase: bare(ticketPhases),
      // Those that a project adds are known only to its file.
      agent: bare(builtInAgents),
    },
  };
}

/** Every key with a value. Keys below a variable name (`svc.deploy.<owner/repo>`) cannot be listed. */
function configKeys(node: ConfigNode, path: readonly string[]): Offered[] {
  if (node.kind === 'field') return [{ value: formatKey(path), description: node.description }];
  if (node.kind === 'keyed') return [];
  return [...node.children].flatMap(([name, child]) => configKeys(child, [...path, name]));
}

function bare(values: readonly string[]): Offered[] {
  return values.map((value) => ({ value, description: '' }));
}
