// The requests of an agent that a person answers: a permission for a tool, or a question with a form.
import { asFields, type Fields, listAt, objectAt, textAt } from '@svc/contract/payload-fields';
import { type AgentRequest, optionKinds } from '../workers/agent-fields.ts';
import { type AgentTool, isCut, shortText } from './tools.ts';

export const MOST_OPTIONS = 12;
const MOST_FIELDS = 20;

export type OptionKind = (typeof optionKinds)[number];
type PermissionOption = AgentRequest['options'][number] & { id: string };
/** `request` is the id of the agent's request as JSON, because `1` and `"1"` are different ids. */
export type OpenRequest = Omit<AgentRequest, 'options'> & {
  /** Counts all requests of the session, because an agent may use an id again. */
  number: number;
  options: readonly PermissionOption[];
};

export function permissionIn(request: string, number: number, tool: AgentTool, params: Fields): OpenRequest {
  const options = listAt(params, 'options').slice(0, MOST_OPTIONS).flatMap(optionIn);
  return aboutTool({ request, number, kind: 'permission', tool: tool.id, options, fields: [] }, tool);
}

type OfTool = 'title' | 'toolKind' | 'paths' | 'command' | 'cut';

/** As the agent describes the tool now. */
export function aboutTool(request: Omit<OpenRequest, OfTool>, tool: AgentTool): OpenRequest {
  return {
    ...request,
    title: tool.title,
    toolKind: tool.kind,
    paths: [...tool.paths],
    command: tool.input,
    cut: isCut(tool) ? true : undefined,
  };
}

/** What may be answered: what cannot be shown whole cannot be allowed. */
export function answerable(open: OpenRequest): OpenRequest['options'] {
  return open.cut === true ? open.options.filter(({ kind }) => kind.startsWith('reject')) : open.options;
}

/** Whether a person can answer the request: a permission, or a question with a form. */
export function isForPeople(message: Fields): boolean {
  const method = textAt(message, 'method') ?? '';
  return method === 'session/request_permission' || isQuestion(method, objectAt(message, 'params'));
}

export function isQuestion(method: string, params: Fields): boolean {
  return method === 'elicitation/create' && params['mode'] === 'form';
}

export function questionIn(request: string, number: number, params: Fields): OpenRequest {
  const schema = objectAt(params, 'requestedSchema');
  const required = listAt(schema, 'required');
  const fields = Object.entries(objectAt(schema, 'properties'))
    .slice(0, MOST_FIELDS)
    .map(([name, given]) => {
      const property = asFields(given) ?? {};
      const choices = listAt(property, 'enum')
        .concat(listAt(property, 'oneOf').map((one) => asFields(one)?.['const']))
        .filter((choice) => typeof choice === 'string')
        .slice(0, MOST_OPTIONS);
      const title = shortText(textAt(property, 'title') ?? textAt(property, 'description') ?? name);
      return { name, title, type: fieldType(property, choices), choices, required: required.includes(name) };
    });
  return {
    request,
    number,
    kind: 'input',
    title: shortText(textAt(params, 'message') ?? 'The agent asks for input'),
    tool: null,
    toolKind: null,
    paths: [],
    command: null,
    options: [],
    fields,
  };
}

function fieldType({ type }: Fields, choices: readonly string[]): AgentRequest['fields'][number]['type'] {
  if (choices.length > 0) return 'choice';
  if (type === 'number' || type === 'integer') return 'number';
  return type === 'boolean' ? 'flag' : 'text';
}

function optionIn(option: unknown): PermissionOption[] {
  const fields = asFields(option) ?? {};
  const id = textAt(fields, 'optionId');
  const kind = optionKinds.find((one) => one === fields['kind']);
  return id === undefined || kind === undefined
    ? []
    : [{ id, kind, name: shortText(textAt(fields, 'name') ?? id) }];
}

/** Without the ids of options: an answer names a kind. */
export function shownRequest(open: OpenRequest): AgentRequest {
  const { number: _, options: __, ...request } = open;
  return { ...request, options: answerable(open).map(({ kind, name }) => ({ kind, name })) };
}
