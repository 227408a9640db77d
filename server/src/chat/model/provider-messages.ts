import type { FilePart, MessagePart } from '@homeport/contracts/chat/frames';
import { brokenOffToolText } from '@homeport/contracts/chat/message-assembly';
import { commandText, isCommandResult } from '@homeport/contracts/workspace/workspace-tools';
import type { StepState } from './protocol.ts';
import { isRecord } from './stream/storable-text.ts';

/** A message of the OpenAI-style chat API. */
export type ChatMessage =
  | { role: 'system'; content: string }
  /** `continues`: asks to continue the assistant's message before it. */
  | { role: 'user'; content: string | ContentPart[]; continues?: true }
  | {
      role: 'assistant';
      content: string | null;
      reasoning_content?: string;
      tool_calls?: ProviderToolCall[];
      /** Sent back to the model that made it, and never elsewhere. */
      stepState?: StepState;
      /** The model that made `stepState`, in messages of earlier turns. */
      stateOf?: string;
      /** The server continues this message, if it knows this member. */
      prefix?: true;
    }
  | {
      role: 'tool';
      tool_call_id: string;
      content: string;
      /** Pictures of the result, in the turn that got it; each protocol has its own place for them. */
      pictures?: readonly PicturePart[];
    };

export type ContentPart =
  | { type: 'text'; text: string }
  | PicturePart
  /** A document as it is, for models that read it themselves; `file_data` is a `data:` URL. */
  | { type: 'file'; file: { filename: string; file_data: string } };

/** A picture as a `data:` URL or, in stored prompts, as `artifact://`. */
export type PicturePart = { type: 'image_url'; image_url: { url: string } };

type ProviderToolCall = { id: string; type: 'function'; function: { name: string; arguments: string } };

/** A stored message, as far as a model sees it. */
export type StoredMessage = { role: 'user' | 'assistant'; parts: MessagePart[] };

/** A tool call of one step with its result. */
export type StepCall = {
  id: string;
  name: string;
  input: unknown;
  result:
    | { output: unknown; pictures?: readonly PicturePart[] }
    | { errorText: string }
    | { denied: true; reason: string | undefined };
};

/** One answer of the model within a response, with the results of the tools it called. */
export type Step = {
  text: string;
  reasoning: string;
  calls: StepCall[];
  stepState?: StepState;
  /** Addresses of its stored pictures: those that the model made, and those that its tools returned. */
  pictures?: string[];
};

const noResult = 'Interrupted: the tool returned no result.';

/**
 * Stored messages, oldest first, as the model reads them. A tool call without a result gets an error, empty messages
 * are left out, and so are calls that the model had not finished asking for; nothing is fetched. Reasoning goes back
 * only in the current turn (after the last user message), with its tool calls.
 */
export function toProviderMessages(messages: StoredMessage[], instructions?: string): ChatMessage[] {
  const lastUser = messages.findLastIndex((message) => message.role === 'user');
  const chat: ChatMessage[] =
    instructions === undefined || instructions === '' ? [] : [{ role: 'system', content: instructions }];
  messages.forEach((message, position) => {
    if (message.role === 'assistant') {
      for (const step of toSteps(message.parts)) chat.push(...stepMessages(step, position > lastUser));
      return;
    }
    const content = userContent(message.parts);
    if (content.length > 0) chat.push({ role: 'user', content });
  });
  return chat;
}

/** The messages of one step: the assistant's and, in the order of the calls, their results. */
export function stepMessages(step: Step, withReasoning: boolean): ChatMessage[] {
  if (step.calls.length === 0) {
    return [
      ...(step.text === '' ? [] : [{ role: 'assistant', content: step.text } as const]),
      ...pictureMessages(step),
    ];
  }
  const reasoning = withReasoning && step.reasoning !== '' ? { reasoning_content: step.reasoning } : {};
  return [
    {
      role: 'assistant',
      content: step.text === '' ? null : step.text,
      ...reasoning,
      ...(withReasoning && step.stepState !== undefined ? { stepState: step.stepState } : {}),
      tool_calls: step.calls.map((call) => ({
        id: call.id,
        type: 'function',
        function: { name: call.name, arguments: argumentsText(call.input) },
      })),
    },
    ...step.calls.map(resultMessage),
    ...pictureMessages(step),
  ];
}

function resultMessage(call: StepCall): ChatMessage {
  const message: ChatMessage = { role: 'tool', tool_call_id: call.id, content: resultText(call) };
  const pictures = 'output' in call.result ? (call.result.pictures ?? []) : [];
  return pictures.length === 0 ? message : { ...message, pictures };
}

/** No protocol takes pictures in a message of the assistant, so they follow it as one of the person. */
function pictureMessages({ calls, pictures = [] }: Step): ChatMessage[] {
  if (pictures.length === 0) return [];
  const label = calls.length === 0 ? 'Pictures in your answer above' : 'Pictures in the results of the tools above';
  const parts = pictures.map((url): PicturePart => ({ type: 'image_url', image_url: { url } }));
  return [{ role: 'user', content: [{ type: 'text', text: `[${label}]` }, ...parts] }];
}

/** The steps of an assistant message, as its `step-start` parts mark them. */
export function toSteps(parts: MessagePart[]): Step[] {
  const steps: Step[] = [];
  let step: Step | undefined;
  for (const part of parts) {
    if (part.type === 'step-start') {
      step = undefined;
      continue;
    }
    if (step === undefined) {
      step = { text: '', reasoning: '', calls: [] };
      steps.push(step);
    }
    addPart(step, part);
  }
  return steps;
}

function addPart(step: Step, part: MessagePart): void {
  if (part.type === 'text') step.text += part.text;
  else if (part.type === 'reasoning') step.reasoning += part.text;
  else if (part.type === 'dynamic-tool' && part.errorText !== brokenOffToolText) {
    step.calls.push({ id: part.toolCallId, name: part.toolName, input: part.input, result: resultOf(part) });
  } else if (part.type === 'file' && isPicture(part) && !isPublished(step, part.url)) {
    step.pictures = [...(step.pictures ?? []), part.url];
  }
}

function isPicture({ mediaType, url }: FilePart): boolean {
  return /^image\/(?:png|jpeg|gif|webp)$/.test(mediaType) && /^(?:artifact:\/\/|data:)/i.test(url);
}

/** Files that the model published itself are for the person. */
function isPublished({ calls }: Step, url: string): boolean {
  return calls.some(
    ({ name, result }) =>
      name === 'publish_artifact' &&
      'output' in result &&
      isRecord(result.output) &&
      url === `artifact://${String(result.output.id)}`,
  );
}

function resultOf(part: Extract<MessagePart, { type: 'dynamic-tool' }>): StepCall['result'] {
  if (part.state === 'output-available') return { output: part.output };
  if (part.state === 'output-denied') return { denied: true, reason: part.approval?.reason };
  if (part.state === 'output-error') return { errorText: part.errorText ?? noResult };
  return { errorText: noResult };
}

/**
 * Servers parse the arguments of earlier calls, so they must be a JSON object even if the model wrote something else.
 */
function argumentsText(input: unknown): string {
  return isRecord(input) ? JSON.stringify(input) : '{}';
}

function resultText({ name, result }: StepCall): string {
  if ('denied' in result) {
    const reason = result.reason === undefined || result.reason === '' ? '' : ` They said: ${result.reason}`;
    return `Error: The user did not allow this call.${reason}`;
  }
  if ('errorText' in result) return `Error: ${result.errorText}`;
  // The steps of a delegate are shown to the person only.
  if (name === 'delegate' && isRecord(result.output) && typeof result.output.answer === 'string')
    return result.output.answer;
  if (name === 'bash' && isCommandResult(result.output)) return commandText(result.output);
  return typeof result.output === 'string' ? result.output : (JSON.stringify(result.output) ?? 'null');
}

function userContent(parts: MessagePart[]): string | ContentPart[] {
  const content: ContentPart[] = [];
  for (const part of parts) {
    if (part.type === 'text' && part.text !== '') content.push({ type: 'text', text: part.text });
    else if (part.type === 'file') content.push(fileContent(part));
  }
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return texts.length === content.length ? texts.join('\n\n') : content;
}

function fileContent(part: FilePart): ContentPart {
  // chat/attachments.ts replaces it with the artifact, of any type.
  if (/^artifact:/i.test(part.url)) return { type: 'image_url', image_url: { url: part.url } };
  const name = part.filename ?? 'file';
  const label = `[File ${name} (${part.mediaType})`;
  if (!/^data:/i.test(part.url)) return note(`${label} is not included: only attached data is read]`);
  if (part.mediaType.startsWith('image/')) return { type: 'image_url', image_url: { url: part.url } };
  if (!isTextType(part.mediaType)) return note(`${label} is not included: it is neither text nor an image]`);
  return note(`[File ${name}]\n${readDataUrl(part.url)}`);
}

function note(text: string): ContentPart {
  return { type: 'text', text };
}

function isTextType(mediaType: string): boolean {
  return (
    mediaType.startsWith('text/') ||
    /^application\/(?:json|xml|yaml|javascript|[\w.-]+\+(?:json|xml))\b/.test(mediaType)
  );
}

/** The text in a `data:` URL (RFC 2397). */
function readDataUrl(url: string): string {
  const comma = url.indexOf(',');
  const body = url.slice(comma + 1);
  if (/;\s?base64$/i.test(url.slice(0, comma))) return Buffer.from(body, 'base64').toString();
  try {
    return decodeURIComponent(body);
  } catch {
    return body;
  }
}
