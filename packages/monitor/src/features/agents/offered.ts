// What an agent offers in a session: permission modes, models, commands of its own, and whether it takes images. And what a
// person has set of it. A mode or model counts when the agent has confirmed it, whatever was asked for.
import { asFields, type Fields, flagAt, listAt, objectAt, textAt } from '@svc/contract/payload-fields';
import { MOST_OPTIONS } from './requests.ts';
import { shortText } from './tools.ts';

export type AgentCommand = {
  name: string;
  description: string;
  /** What can follow it; null: nothing that the agent describes. */
  hint: string | null;
};

export type Setting = 'mode' | 'model';
type Pending = { method: string; params: Fields };

/** The part of a session that is about what the agent offers. */
export type SessionSettings = {
  sessionId: string | null;
  /** Null while the agent has not reported it. */
  mode: string | null;
  modes: readonly { id: string; name: string }[];
  models: readonly { id: string; name: string }[];
  /** How the mode is set: by a config option, or by `session/set_mode` where the agent has none. */
  modeOption: string | null;
  model: string | null;
  modelOption: string | null;
  /** What a person has set in this session, as the agent confirmed it. */
  chosen: { mode: string | null; model: string | null };
  /** How many changes of settings there were. */
  settings: number;
  /** Our requests without an answer: by id, the method and what the answer is needed for. */
  pending: Readonly<Record<number, Pending>>;
};

const MOST_MODELS = 200;
const MOST_COMMANDS = 300;
/** A name is sent as a part of a message, so it is one word. */
const commandName = /^[^\s\p{C}]{1,100}$/u;

export const SET_MODE = 'session/set_mode';
const SET_MODEL = 'session/set_model';
export const SET_OPTION = 'session/set_config_option';

/** Whether a prompt may have images, by the capabilities that the agent reports. */
export function takesImages(capabilities: Fields): boolean {
  return flagAt(objectAt(capabilities, 'promptCapabilities'), 'image') === true;
}

/** The agent's settings by category: which is the permission mode, which is the model. */
export function withOptions<Session extends SessionSettings>(
  session: Session,
  options: readonly unknown[],
): Session {
  let next = session;
  for (const option of options.map((one) => asFields(one) ?? {})) {
    const id = textAt(option, 'id');
    const value = textAt(option, 'currentValue') ?? null;
    if (id === undefined) continue;
    if (option['category'] === 'mode')
      next = { ...next, mode: value, modeOption: id, modes: offered(listAt(option, 'options'), 'value') };
    if (option['category'] === 'model')
      next = { ...next, model: value, modelOption: id, models: offered(listAt(option, 'options'), 'value') };
  }
  const isChanged = next.mode !== session.mode || next.model !== session.model;
  return isChanged ? { ...next, settings: session.settings + 1 } : next;
}

export function withMode<Session extends SessionSettings>(
  session: Session,
  mode: string | undefined,
): Session {
  if (mode === undefined || mode === session.mode) return session;
  return { ...session, mode, settings: session.settings + 1 };
}

export function withModel<Session extends SessionSettings>(
  session: Session,
  model: string | undefined,
): Session {
  if (model === undefined || model === session.model) return session;
  return { ...session, model, settings: session.settings + 1 };
}

export function offered(
  list: readonly unknown[],
  key: 'id' | 'modelId' | 'value',
): { id: string; name: string }[] {
  const most = key === 'id' ? MOST_OPTIONS : MOST_MODELS;
  return list.slice(0, most).flatMap((one) => {
    const fields = asFields(one) ?? {};
    const id = textAt(fields, key);
    return id === undefined ? [] : [{ id, name: shortText(textAt(fields, 'name') ?? id) }];
  });
}

export function commandsIn(update: Fields): AgentCommand[] {
  return listAt(update, 'availableCommands')
    .slice(0, MOST_COMMANDS)
    .flatMap((one) => {
      const fields = asFields(one) ?? {};
      const name = textAt(fields, 'name')?.replace(/^\//, '') ?? '';
      const hint = textAt(objectAt(fields, 'input'), 'hint') ?? '';
      if (!commandName.test(name)) return [];
      return [
        {
          name,
          description: shortText(textAt(fields, 'description') ?? ''),
          hint: hint === '' ? null : shortText(hint),
        },
      ];
    });
}

/** In the mark of a request by which a person changes a setting: svc sends the same ones when a session starts. */
export const CHOSEN = 'chosen';

const markOf = (params: Fields): Fields => objectAt(objectAt(params, '_meta'), 'svc');

/** The setting that a request of a person changes, and its value; undefined for any other request. */
function changeIn(session: SessionSettings, { method, params }: Pending): [Setting, string] | undefined {
  if (textAt(markOf(params), 'kind') !== CHOSEN) return undefined;
  if (method === SET_MODE) return ['mode', textAt(params, 'modeId') ?? ''];
  if (method === SET_MODEL) return ['model', textAt(params, 'modelId') ?? ''];
  if (method !== SET_OPTION) return undefined;
  const setting = textAt(params, 'configId') === session.modeOption ? 'mode' : 'model';
  return [setting, textAt(params, 'value') ?? ''];
}

/** After the answer to a request of ours: what a person asked for is what they have chosen, if the agent took it. */
export function confirmed<Session extends SessionSettings>(session: Session, asked: Pending): Session {
  const [setting, value] = changeIn(session, asked) ?? [];
  if (setting === undefined || session[setting] !== value) return session;
  return { ...session, chosen: { ...session.chosen, [setting]: value } };
}

/** Who has asked for what the agent has now changed; undefined: the agent did it by itself, or svc at the start. */
export function changedBy(before: SessionSettings, after: SessionSettings): string | undefined {
  const request = Object.values(before.pending).find((one) => {
    const [setting, value] = changeIn(before, one) ?? [];
    return setting !== undefined && after[setting] === value && before[setting] !== value;
  });
  return request && textAt(markOf(request.params), 'by');
}

/**
 * The mode or model that the session must have: what a person has set in it, else what it was started with. Some agents
 * report a change before they answer the request for it.
 */
export function wanted(
  session: SessionSettings,
  setup: { mode: string | null; model: string | null },
  setting: Setting,
): string | null {
  const asked = Object.values(session.pending).map((one) => changeIn(session, one));
  const isAsked = asked.some((change) => change?.[0] === setting && change[1] === session[setting]);
  return isAsked ? session[setting] : (session.chosen[setting] ?? setup[setting]);
}

/** What changes it in this session; null: the agent does not offer that. */
export function changeRequest(
  session: SessionSettings,
  setting: Setting,
  value: string,
): { method: string; params: Fields } | null {
  const { sessionId } = session;
  const [known, option] =
    setting === 'mode' ? [session.modes, session.modeOption] : [session.models, session.modelOption];
  if (sessionId === null || !known.some(({ id }) => id === value)) return null;
  if (option !== null) return { method: SET_OPTION, params: { sessionId, configId: option, value } };
  return setting === 'mode'
    ? { method: SET_MODE, params: { sessionId, modeId: value } }
    : { method: SET_MODEL, params: { sessionId, modelId: value } };
}
