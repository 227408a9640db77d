/**
 * Rules that servers of chat completions enforce, each failing with the words of its server. Free-standing: Node
 * built-ins only.
 */

export type Json = Record<string, unknown>;
type StrictCall = { id: string; function: { name: string; arguments: string }; extra_content?: Json };
type StrictMessage = Json & {
  role: string;
  content?: unknown;
  tool_calls?: StrictCall[];
  tool_call_id?: string;
};
export type StrictTool = { function: { name: string; description?: string; parameters: Json } };
export type StrictBody = Json & { messages: StrictMessage[]; tools?: StrictTool[] };

/** A refusal: with a status or, `inStream`, as an error event of a stream that began with 200. */
export type Refusal = { status: number; body: unknown; inStream?: boolean };
/** Returns the refusal of a request that breaks the rule. */
export type Rule = (body: StrictBody) => Refusal | undefined;
/** Makes a server's refusal of a message. */
export type Voice = (message: string, param?: string) => Refusal;

type VoiceName = 'openai' | 'mistral' | 'google' | 'openrouter' | 'vllm' | 'lmstudio' | 'llamacpp' | 'litellm';

export const voices: Record<VoiceName, Voice> = {
  openai: (message, param) => ({
    status: 400,
    body: { error: { message, type: 'invalid_request_error', param: param ?? null, code: null } },
  }),
  mistral: (message) => ({
    status: 400,
    body: { object: 'error', message, type: 'invalid_request_message_order', param: null, code: '3230' },
  }),
  google: (message) => ({ status: 400, body: [{ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }] }),
  openrouter: (message) => ({
    status: 400,
    body: {
      error: { message: 'Provider returned error', code: 400, metadata: { raw: message, provider_name: 'Google' } },
    },
  }),
  vllm: (message) => ({
    status: 400,
    body: { object: 'error', message, type: 'BadRequestError', param: null, code: 400 },
  }),
  lmstudio: (message) => ({
    status: 200,
    inStream: true,
    body: { error: { message: `Error rendering prompt with jinja template: "${message}".` } },
  }),
  llamacpp: (message) => ({
    status: 500,
    body: { error: { code: 500, message: `Error: Jinja Exception: ${message}`, type: 'server_error' } },
  }),
  litellm: (message) => ({
    status: 400,
    body: {
      error: {
        message: `litellm.BadRequestError: BedrockException - ${message}`,
        type: null,
        param: null,
        code: '400',
      },
    },
  }),
};

const callsOf = (body: StrictBody): StrictCall[] => body.messages.flatMap((message) => message.tool_calls ?? []);
const record = (value: unknown): Json => (typeof value === 'object' && value !== null ? { ...value } : {});

/** Only these members of an assistant's message. */
export function assistantMembers(allowed: readonly string[], refuse: (index: number, name: string) => Refusal): Rule {
  return ({ messages }) => {
    for (const [index, message] of messages.entries()) {
      const name = Object.keys(message).find((member) => !allowed.includes(member));
      if (message.role === 'assistant' && name !== undefined) return refuse(index, name);
    }
    return undefined;
  };
}

/** Only these members of the body. */
export function bodyMembers(refused: readonly string[], refuse: (name: string) => Refusal): Rule {
  return (body) => {
    const name = refused.find((member) => body[member] !== undefined);
    return name === undefined ? undefined : refuse(name);
  };
}

export function callIds(pattern: RegExp, refuse: (id: string, place: string) => Refusal): Rule {
  return ({ messages }) => {
    for (const [index, message] of messages.entries()) {
      for (const [at, { id }] of (message.tool_calls ?? []).entries()) {
        if (!pattern.test(id)) return refuse(id, `messages[${index}].tool_calls[${at}].id`);
      }
    }
    return undefined;
  };
}

export function uniqueIds(voice: Voice): Rule {
  return (body) => {
    const ids = callsOf(body).map(({ id }) => id);
    const twice = ids.find((id, at) => ids.indexOf(id) !== at);
    return twice === undefined
      ? undefined
      : voice(`Invalid parameter: Duplicate value for 'tool_call_id' of '${twice}' in message[4].`);
  };
}

/** Every result answers a call of the message before, and every call has a result. */
export function answeredCalls(voice: Voice): Rule {
  return ({ messages }) => {
    let open: string[] = [];
    for (const message of messages) {
      if (message.role === 'tool') {
        if (!open.includes(message.tool_call_id ?? ''))
          return voice(`No tool call found for '${message.tool_call_id}'`);
        open = open.filter((id) => id !== message.tool_call_id);
      } else {
        if (open.length > 0) {
          return voice(
            `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.`,
          );
        }
        open = (message.tool_calls ?? []).map(({ id }) => id);
      }
    }
    return open.length > 0 ? voice('Not the same number of function calls and responses') : undefined;
  };
}

/** The order of Mistral's API: no person after a tool result. */
export function noUserAfterTool(voice: Voice): Rule {
  return ({ messages }) =>
    messages.some(({ role }, at) => role === 'user' && messages[at - 1]?.role === 'tool')
      ? voice(`Unexpected role 'user' after role 'tool'`)
      : undefined;
}

/** The order of many templates: people and the assistant take turns; calls and results don't count. */
export function alternatingRoles(voice: Voice, words: string): Rule {
  return ({ messages }) => {
    const turns = messages.filter(({ role, tool_calls: calls }) => role === 'user' || (role === 'assistant' && !calls));
    const isWrong = turns.some(({ role }, at) => role !== (at % 2 === 0 ? 'user' : 'assistant'));
    return isWrong ? voice(words) : undefined;
  };
}

export function noSystemRole(voice: Voice): Rule {
  return ({ messages }) =>
    messages.some(({ role }) => role === 'system') ? voice('System role not supported') : undefined;
}

export function noPictures(voice: Voice): Rule {
  return ({ messages }) => {
    const index = messages.findIndex(
      ({ content }) => Array.isArray(content) && content.some((part) => part.type === 'image_url'),
    );
    if (index === -1) return undefined;
    return voice(
      `Failed to deserialize the JSON body into the target type: messages[${index}]: unknown variant \`image_url\`, expected \`text\``,
    );
  };
}

/** No tools at all. */
export function noTools(voice: Voice): Rule {
  return ({ tools }) =>
    tools === undefined ? undefined : voice('registry.ollama.ai/library/gemma3:4b does not support tools');
}

export function textContent(voice: Voice): Rule {
  return ({ messages }) => {
    const index = messages.findIndex(({ content }) => content === null || content === undefined);
    return index === -1 ? undefined : voice(`messages.${index}.content: Input should be a valid string`);
  };
}

/** Reasoning must come back with every call, of earlier turns too. */
export function reasoningInCalls(voice: Voice): Rule {
  return ({ messages }) => {
    const index = messages.findIndex((message) => message.tool_calls && !message.reasoning_content);
    if (index === -1) return undefined;
    return voice(
      `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${index}`,
    );
  };
}

/** The first call of every step is signed, as Gemini 3 demands. */
export function signedCalls(voice: Voice): Rule {
  return ({ messages }) => {
    const missing = messages.find(
      ({ tool_calls: calls }) => calls && record(calls[0]?.extra_content).google === undefined,
    );
    if (missing === undefined) return undefined;
    return voice(
      'Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly.',
    );
  };
}

export function detailsInCalls(voice: Voice): Rule {
  return ({ messages }) =>
    messages.some((message) => message.tool_calls && !Array.isArray(message.reasoning_details))
      ? voice(
          'Gemini models require OpenRouter reasoning details to be preserved in each request. Error: missing a thought_signature in functionCall parts.',
        )
      : undefined;
}

export function toolsWithSteps(voice: Voice): Rule {
  return (body) =>
    callsOf(body).length > 0 && body.tools === undefined
      ? voice("Bedrock doesn't support tool calling without `tools=` param specified.")
      : undefined;
}

export function maxTools(max: number, voice: Voice): Rule {
  return ({ tools = [] }) =>
    tools.length > max
      ? voice(
          `Invalid 'tools': array too long. Expected an array with maximum length ${max}, but got an array with length ${tools.length} instead.`,
          'tools',
        )
      : undefined;
}

/** A rule for every schema within the arguments of every tool. */
export function toolSchemas(
  fault: (schema: Json, isTop: boolean) => string | undefined,
  refuse: (tool: StrictTool, index: number, path: string, fault: string) => Refusal,
): Rule {
  return ({ tools = [] }) => {
    for (const [index, tool] of tools.entries()) {
      const found = faultIn(tool.function.parameters, fault, '');
      if (found !== undefined) return refuse(tool, index, found.path, found.fault);
    }
    return undefined;
  };
}

function faultIn(
  schema: Json,
  faultOf: (schema: Json, isTop: boolean) => string | undefined,
  path: string,
): { path: string; fault: string } | undefined {
  const fault = faultOf(schema, path === '');
  if (fault !== undefined) return { path, fault };
  const inner: [string, unknown][] = [
    ...Object.entries(record(schema.properties)).map(([name, each]): [string, unknown] => [`properties.${name}`, each]),
    ...(schema.items === undefined ? [] : [['items', schema.items] satisfies [string, unknown]]),
    ...(Array.isArray(schema.anyOf) ? schema.anyOf.map((each, at): [string, unknown] => [`anyOf.${at}`, each]) : []),
  ];
  for (const [name, each] of inner) {
    const found = faultIn(record(each), faultOf, path === '' ? name : `${path}.${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The faults that OpenAI finds in a schema. */
export function openAiFault(schema: Json, isTop: boolean): string | undefined {
  if (isTop && schema.type !== 'object') return 'schema must be a JSON Schema of \'type: "object"\'';
  if (isTop && ['anyOf', 'oneOf', 'allOf', 'enum', 'not'].some((name) => name in schema)) {
    return "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.";
  }
  if (schema.type === 'object' && schema.properties === undefined) return 'object schema missing properties.';
  if ([schema.type].flat().includes('array') && schema.items === undefined) return 'array schema missing items.';
  if (schema.required === null) return "None is not of type 'array'.";
  if (Array.isArray(schema.enum) && schema.enum.length === 0) return '[] should be non-empty.';
  return undefined;
}

/** The faults of Kimi and of Gemini's compatible address: one known type everywhere, nothing else beside `anyOf`. */
export function typedFault(schema: Json): string | undefined {
  if (schema.anyOf !== undefined && schema.type !== undefined) {
    return 'when using anyOf, type should be defined in anyOf items instead of the parent schema';
  }
  if (schema.anyOf === undefined && typeof schema.type !== 'string') return 'type is not defined';
  const unknown = [
    '$ref',
    '$defs',
    '$schema',
    'allOf',
    'oneOf',
    'const',
    'not',
    'patternProperties',
    'additionalProperties',
  ];
  const named = unknown.find((name) => name in schema);
  if (named !== undefined) return `Unknown name "${named}": Cannot find field.`;
  return schema.type === 'array' && schema.items === undefined ? 'items: missing field.' : undefined;
}
