import { z } from 'zod';
import { pathOfName } from '../../artifacts/path.ts';
import { createArtifact } from '../../artifacts/uploads.ts';
import { readOperation } from '../../settings/operation.ts';
import { checkCitations, type StoredSource } from '../../web-search/sources.ts';
import type { FileOwner, FileStoreDeps } from './stored-file.ts';
import { defineTool } from './tool-input.ts';
import { type Tool, ToolFailure } from './tool-run.ts';

const folder = 'reports';
/** With its ending, a name has at most 255 bytes. */
const titleMax = 80;
const textMax = 200_000;

const description = `Writes a report as a Markdown file of this conversation, where the person can read and download it. Each number in square brackets, like [3], cites a source of this conversation; the tool adds the list of cited sources with their addresses.
Writing under the same title again creates a new version. Include the link from the result in your reply.`;

const input = z.object({
  title: z.string().trim().min(1).max(titleMax).describe('Title of the report, and name of the file.'),
  text: z
    .string()
    .min(1)
    .max(textMax)
    .describe('The report in Markdown, without its title and without a list of sources.'),
  sourcesHeading: z
    .string()
    .trim()
    .min(1)
    .max(60)
    .optional()
    .describe('Heading of the list of sources, in the language of the report. Default: Sources.'),
});

/**
 * Stores a report with the list of its sources. It stays in the conversation and holds nothing that the answer could
 * not hold, so it needs no approval after reading (docs/web-search.md).
 */
export function reportTool(deps: FileStoreDeps, { owner_id: userId, chat_id: chatId }: FileOwner): Tool {
  return defineTool({
    name: 'write_report',
    description,
    input,
    effect: 'writes',
    async run({ title, text, sourcesHeading = 'Sources' }) {
      const { cited, unknown, misquotes } = await checkCitations(deps.db, chatId, text);
      if (unknown.length > 0) {
        throw new ToolFailure(`This conversation has no source ${unknown.join(', ')}. Cite only numbers that you got.`);
      }
      if (cited.length === 0) throw new ToolFailure('The report cites no source. Put [n] after each statement.');
      const report = [`# ${lineOf(title)}`, text.trim(), `## ${lineOf(sourcesHeading)}`, listOf(cited)].join('\n\n');
      const bytes = Buffer.from(`${report}\n`.toWellFormed());
      const { artifactMaxUploadBytes: limit } = await readOperation(deps);
      if (bytes.length > limit)
        throw new ToolFailure(`The report is larger than the limit for files (${limit} bytes).`);
      const stored = await deps.artifactStore.put(ReadableStream.from([bytes]));
      const path = `${folder}/${pathOfName(`${title.replace(/[/\\]/g, '-')}.md`)}`;
      const upload = { scope: { chatId }, path, filename: undefined, mediaType: 'text/markdown' };
      const artifact = await createArtifact(deps, userId, { ...upload, onConflict: 'replace' }, stored);
      const link = `[${artifact.filename.replace(/[[\]\\]/g, '\\$&')}](artifact://${artifact.id})`;
      const written = { id: artifact.id, path, version: artifact.version, link, sources: cited.length };
      if (misquotes.length === 0) return written;
      const note = 'These quotes are not in their source word for word. Correct them and write the report again.';
      return { ...written, note, misquotes };
    },
  });
}

function listOf(sources: readonly StoredSource[]): string {
  const lines = sources.map(({ number, title, url, publishedAt, readAt }) => {
    const published = publishedAt === null ? '' : `${lineOf(publishedAt)}. `;
    return `- [${number}] ${lineOf(title) || new URL(url).host}. ${published}<${url}> (${readAt.toISOString().slice(0, 10)})`;
  });
  return lines.join('\n');
}

/** One line of plain text: titles of pages are written by strangers. */
function lineOf(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.replace(/[\\`*_[\]<>~|#!&]/g, '\\$&');
}
