/** The form that a server requires of requests, beyond the protocol: known by its address or model, or learned. */
export type RequestShape = {
  /** How ids of tool calls are written; `any`: as they came. */
  ids: 'any' | 'word' | 'nine';
  maxIdLength: number;
  /** The content of a message that only calls tools. */
  emptyContent: 'null' | 'text' | 'absent';
  /** False if a message of the person must not follow a tool result directly. */
  userAfterTool: boolean;
  /** True if the server continues a last message of the assistant that has the member `prefix`. */
  prefix: boolean;
  /** True if the first message must be one of the person. */
  userFirst: boolean;
  /** True if reasoning of earlier turns is demanded, with a substitute for steps that have none. */
  reasoningAlways: boolean;
  /** Steps with tool calls that are sent as text, because the server demands state of them that is not there. */
  stepsAsText: 'none' | 'foreign' | 'all';
  /** Members of an assistant's message that the server refuses. */
  refusedMembers: Set<string>;
  /** True if every schema needs a type. */
  typedSchemas: boolean;
  maxTools: number | undefined;
  maxToolDescription: number | undefined;
  /** Definitions that the server refused, by the tool's name. */
  refusedTools: Map<string, string>;
};

const hosts: { host: RegExp; known: Partial<RequestShape> }[] = [
  { host: /(?:^|\.)openai\.com$|\.azure\.com$/, known: { maxIdLength: 40, maxTools: 128 } },
  { host: /(?:^|\.)mistral\.ai$/, known: { ids: 'nine', userAfterTool: false, prefix: true } },
  { host: /(?:^|\.)groq\.com$/, known: { maxTools: 128 } },
  { host: /(?:^|\.)moonshot\.(?:ai|cn)$/, known: { typedSchemas: true, maxTools: 128 } },
  { host: /(?:^|\.)googleapis\.com$/, known: { typedSchemas: true } },
];
/** Families whose templates have these rules at every server. */
const families: { model: RegExp; known: Partial<RequestShape> }[] = [
  { model: /(?:mis|minis|magis|devs|codes)tral|mixtral|pixtral/i, known: { ids: 'nine', userAfterTool: false } },
  { model: /kimi|moonshot/i, known: { typedSchemas: true } },
  { model: /(?:^|\/)(?:gpt-|chatgpt|o\d)/i, known: { maxIdLength: 40 } },
];

/** The shape to begin with. */
export function initialShape(baseUrl: string, modelId = ''): RequestShape {
  const hostname = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : '';
  return {
    ids: 'any',
    maxIdLength: 256,
    emptyContent: 'null',
    userAfterTool: true,
    prefix: false,
    userFirst: false,
    reasoningAlways: false,
    stepsAsText: 'none',
    refusedMembers: new Set(),
    typedSchemas: false,
    maxTools: undefined,
    maxToolDescription: undefined,
    refusedTools: new Map(),
    ...Object.assign({}, ...families.filter(({ model }) => model.test(modelId)).map(({ known }) => known)),
    ...hosts.find(({ host }) => host.test(hostname))?.known,
  };
}
