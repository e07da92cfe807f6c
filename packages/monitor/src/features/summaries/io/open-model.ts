// The models behind one interface. The SDK is loaded at the first call, because that takes longer than everything else
// at the start of the daemon. Key and base URL are always given, so no package reads them from the environment.
import type * as ModelSdk from 'ai';
import type { ProviderName } from '../providers.ts';
import type { Access } from '../settings.ts';

/** The API of the server: that of one of the vendors, or the chat completions of gateways. */
export type WireFormat = ProviderName | 'chat-completions';

export type Sdk = Pick<typeof ModelSdk, 'generateText' | 'APICallError'>;

export async function loadSdk(): Promise<Sdk> {
  // The SDK would print its warnings to the console.
  globalThis.AI_SDK_LOG_WARNINGS = false;
  return import('ai');
}

export async function openModel(
  format: WireFormat,
  { key, baseUrl }: Access,
  model: string,
  fetch: typeof globalThis.fetch,
): Promise<ModelSdk.LanguageModel> {
  const options = { apiKey: key, baseURL: baseUrl, fetch };
  switch (format) {
    case 'provider-a':
      return (await import('@ai-sdk/anthropic')).createAnthropic(options)(model);
    case 'provider-b':
      return (await import('@ai-sdk/openai')).createOpenAI(options).responses(model);
    case 'provider-c':
      return (await import('@ai-sdk/xai')).createXai(options).responses(model);
    case 'chat-completions': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      return createOpenAICompatible({ ...options, name: 'gateway' })(model);
    }
  }
}

/** Without it the vendors store the prompts. */
export const providerOptions = { openai: { store: false }, xai: { store: false } };

// The fetch that model SDKs get. A redirect is an error, because the key would be sent to its target; and the size of
// an answer is limited.

const MAX_ANSWER_BYTES = 1024 * 1024;

export function createSafeFetch(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, { ...init, redirect: 'error' });
    if (response.body === null) return response;
    return new Response(response.body.pipeThrough(atMost(MAX_ANSWER_BYTES)), {
      status: response.status,
      statusText: response.statusText,
      headers: response.headers,
    });
  };
}

/** The answer is longer than any answer of a model. */
export class AnswerTooLong extends Error {}

function atMost(limit: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(part, controller) {
      bytes += part.byteLength;
      if (bytes > limit) controller.error(new AnswerTooLong(`more than ${limit} bytes`));
      else controller.enqueue(part);
    },
  });
}
