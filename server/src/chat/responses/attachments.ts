import { attachedId, attachedMax, readAttachment } from '../../artifacts/attachments.ts';
import { parseStoredParts } from '../../conversations/messages.ts';
import type { Deps } from '../../deps.ts';
import type { ChatMessage, ContentPart } from '../model/provider-messages.ts';
import type { ContextMessage } from '../turn/context-history.ts';
import { parsePrompts, promptOf } from '../turn/prompt.ts';
import { estimateMessages } from '../turn/token-estimate.ts';

/**
 * Stored prompts refer to artifacts; here they get their contents, as they are now, when a turn begins: pictures as data, texts
 * with their names, others by name only. Nothing of it is stored a second time.
 */

type Needs = Pick<Deps, 'db' | 'artifactStore' | 'log'>;

/** The same messages, newest first, read no further than they are asked for; files of at most so many bytes in all. */
export async function* withAttachments(
  deps: Needs,
  ownerId: string,
  newestFirst: AsyncIterable<ContextMessage>,
  signal: AbortSignal,
  maxBytes = attachedMax,
): AsyncGenerator<ContextMessage, void, undefined> {
  let room = maxBytes;
  for await (const message of newestFirst) {
    if (message.role !== 'user' || !(message.prompt ?? message.parts ?? '').includes('artifact://')) {
      yield message;
      continue;
    }
    const prompt = message.prompt ?? promptOf('user', parseStoredParts(message.parts ?? '[]')).prompt;
    const messages: ChatMessage[] = [];
    for (const stored of parsePrompts([prompt])) {
      const filled = await fill(deps, ownerId, stored, room, signal);
      messages.push(filled.message);
      room -= filled.bytes;
    }
    yield {
      ...message,
      prompt: JSON.stringify(messages).slice(1, -1),
      promptTokens: estimateMessages(messages),
    };
  }
}

async function fill(
  deps: Needs,
  ownerId: string,
  message: ChatMessage,
  room: number,
  signal: AbortSignal,
): Promise<{ message: ChatMessage; bytes: number }> {
  if (message.role !== 'user' || typeof message.content === 'string') return { message, bytes: 0 };
  const content: ContentPart[] = [];
  let bytes = 0;
  for (const part of message.content) {
    const id = part.type === 'image_url' ? attachedId(part.image_url.url) : undefined;
    if (id === undefined) {
      content.push(part);
      continue;
    }
    const attachment = await readAttachment(deps, ownerId, id, room - bytes, signal);
    bytes += attachment?.bytes ?? 0;
    content.push(partOf(attachment));
  }
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  // Models without pictures read plain strings only.
  return { message: { role: 'user', content: texts.length === content.length ? texts.join('\n\n') : content }, bytes };
}

function partOf(attachment: Awaited<ReturnType<typeof readAttachment>>): ContentPart {
  if (attachment === undefined) return note('[A file that was attached here no longer exists]');
  if (attachment.kind === 'image') return { type: 'image_url', image_url: { url: attachment.url } };
  const { name } = attachment;
  if (attachment.kind === 'named') {
    return note(`[File ${name} (${attachment.mediaType}) is not included: ${attachment.reason}]`);
  }
  const end = attachment.isCut ? `\n[… only the first ${attachment.bytes} bytes of ${name} are included …]` : '';
  return note(`[File ${name}]\n${attachment.text}${end}`);
}

function note(text: string): ContentPart {
  return { type: 'text', text };
}
