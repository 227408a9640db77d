/** Parsers for inputs and outputs of the workspace's own tools. */

export type Published = { id: string; filename: string; mediaType: string };

/** Tools that make a file of the conversation. */
export const publishing: ReadonlySet<string> = new Set(['publish_artifact', 'write_report']);

/** The artifact that one of them made; undefined while there is none. */
export function readPublished(output: unknown, input: unknown): Published | undefined {
  const artifact = isRecord(output) && isRecord(output.artifact) ? output.artifact : output;
  if (isRecord(artifact) && typeof artifact.id === 'string') {
    const path = textOf(artifact, 'filename') ?? textOf(artifact, 'path') ?? '';
    const filename = baseName(path);
    return { id: artifact.id, filename, mediaType: textOf(artifact, 'mediaType') ?? guessPicture(filename) };
  }
  const text = typeof output === 'string' ? output : JSON.stringify(output ?? '');
  const link = /\[([^[\]\n]{1,512})\]\(artifact:\/\/([0-9a-f-]{36})\)/.exec(text);
  const id = link?.[2] ?? /artifact:\/\/([0-9a-f-]{36})/.exec(text)?.[1];
  if (id === undefined) return undefined;
  return { id, filename: link?.[1] ?? baseName(textOf(input, 'path') ?? ''), mediaType: '' };
}

/** A chip that finds no picture shows the name. */
function guessPicture(filename: string): string {
  const ending = /\.(png|jpe?g|gif|webp)$/i.exec(filename)?.[1]?.toLowerCase();
  return ending === undefined ? '' : `image/${ending.replace('jpg', 'jpeg')}`;
}

export type Edit = { oldText: string; newText: string };

/** Replacements in the streamed input of an `edit_file` call. */
export function readEdits(input: unknown): Edit[] {
  if (!isRecord(input)) return [];
  const edits: unknown[] = Array.isArray(input.edits) ? input.edits : [input];
  return edits.flatMap((edit) => {
    const [oldText, newText] = [textOf(edit, 'oldText'), textOf(edit, 'newText')];
    return oldText === undefined && newText === undefined ? [] : [{ oldText: oldText ?? '', newText: newText ?? '' }];
  });
}

export function textOf(value: unknown, name: string): string | undefined {
  const text = isRecord(value) ? value[name] : undefined;
  return typeof text === 'string' ? text : undefined;
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
