import type { DynamicToolPart, FilePart, MessagePart } from '@homeport/contracts/chat/frames';
import type { ShareInclude } from '@homeport/contracts/sharing';
import { attachedId } from '../artifacts/attachments.ts';

/** Parts of a message as they are published. Kinds that are not named here are left out. */

/** The home folder in every kind of workspace. */
const home = /\/home\/user(?![\w-])/g;

/** Numbers the files of a snapshot in the order in which messages name them. */
export class FileNumbers {
  readonly #numbers = new Map<string, number>();

  /** Ids of artifacts; the place is the number. */
  get ids(): string[] {
    return [...this.#numbers.keys()];
  }

  of(artifactId: string): number {
    const number = this.#numbers.get(artifactId) ?? this.#numbers.size;
    this.#numbers.set(artifactId, number);
    return number;
  }
}

/** The parts without those that are left out, files by their number. */
export function publishedParts(
  parts: readonly MessagePart[],
  include: ShareInclude,
  files: FileNumbers,
): Record<string, unknown>[] {
  return parts.flatMap((part) => {
    const published = publishedPart(part, include, files);
    return published === undefined ? [] : [published];
  });
}

function publishedPart(
  part: MessagePart,
  include: ShareInclude,
  files: FileNumbers,
): Record<string, unknown> | undefined {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: withoutHome(part.text) };
    case 'reasoning':
      return include.reasoning ? { type: 'reasoning', text: withoutHome(part.text) } : undefined;
    case 'file':
      return include.files ? publishedFile(part, files) : undefined;
    case 'dynamic-tool':
      return include.tools ? publishedTool(part as DynamicToolPart) : undefined;
    default:
      return publishedSource(part);
  }
}

/** A web page or document that an answer names. */
function publishedSource(part: object): Record<string, unknown> | undefined {
  const { type, sourceId, url, title, filename } = part as Record<string, unknown>;
  if (type === 'source-url' && typeof url === 'string' && /^https?:\/\//i.test(url)) {
    return { type, sourceId: String(sourceId ?? url), url, ...(typeof title === 'string' ? { title } : {}) };
  }
  if (type !== 'source-document') return undefined;
  const name = [title, filename].find((text) => typeof text === 'string' && text.trim() !== '');
  return typeof name === 'string' ? { type, sourceId: String(sourceId ?? name), title: withoutHome(name) } : undefined;
}

function publishedFile(
  { mediaType, filename, url }: FilePart,
  files: FileNumbers,
): Record<string, unknown> | undefined {
  const id = attachedId(url);
  if (id === '') return undefined;
  const isInline = /^data:/i.test(url);
  if (id === undefined && !isInline) return undefined;
  const address = id === undefined ? url : `share-file:${files.of(id)}`;
  return { type: 'file', mediaType, ...(filename === undefined ? {} : { filename }), url: address };
}

function publishedTool(part: DynamicToolPart): Record<string, unknown> {
  const { type, toolName, toolCallId, state, input, output, errorText } = part;
  return withoutHomes({ type, toolName, toolCallId, state, input, output, errorText }) as Record<string, unknown>;
}

function withoutHome(text: string): string {
  return text.replace(home, '~');
}

function withoutHomes(value: unknown): unknown {
  if (typeof value === 'string') return withoutHome(value);
  if (Array.isArray(value)) return value.map(withoutHomes);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [withoutHome(name), withoutHomes(member)]));
}
