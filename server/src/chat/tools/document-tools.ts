import { ApiError } from '@homeport/contracts/errors';
import { z } from 'zod';
import { type ArtifactRow, artifactNotFound, findArtifact } from '../../artifacts/artifacts.ts';
import { getNamespace, type Namespace } from '../../artifacts/namespaces.ts';
import { filenameOf } from '../../artifacts/path.ts';
import { hasDocuments, searchDocuments, unreadFiles } from '../../documents/document-search.ts';
import { readPages } from '../../documents/document-store.ts';
import type { Documents } from '../../documents/documents.ts';
import type { Platform } from '../../platform.ts';
import type { FindTools } from './find-tools.ts';
import { defineTool } from './tool-input.ts';
import { type Tool, ToolFailure } from './tool-run.ts';

type Needs = Pick<Platform, 'db'> & { documents: Documents };
type Reader = { userId: string; chatId: string; assistantId: string | null };

const searchDescription = `Searches the text of all documents of this conversation, its project and its assistant (PDF, office files, books, e-mails, text), page by page.
Search for words that the passage itself is likely to contain, and try other words if nothing fits. Then read the pages with read_document.
Cite each statement that you take from a page directly after it as [file name, page], naming the page as the result does, for example [plan.pdf, page 3].`;
const readDescription = `Reads one page of a document of this conversation, its project or its assistant: a page, slide, sheet or part, by its number.
File ids are in the notes about attached files and in the results of search_documents. Cite your sources as [file name, page].`;

const searchInput = z.object({ query: z.string().min(1).max(500).describe('The words to search for.') });
const readInput = z.object({
  id: z.string().min(1).max(128).describe('The id of the file.'),
  page: z.number().int().min(1).max(1_000_000).describe('The page number, starting at 1.'),
});

const matchesMax = 8;
const unreadMax = 50;
const searchWaitMs = 20_000;
const readWaitMs = 90_000;

/**
 * Search and reading in the files of a conversation, its project and its assistant; offered where there is something
 * to read.
 */
export function createDocumentToolFinder(deps: Needs): FindTools {
  return async ({ response, context }) => {
    const reader = { userId: response.owner_id, chatId: response.chat_id, assistantId: context.assistantId };
    const isOffered = await hasDocuments(deps.db.kysely, reader);
    return isOffered ? [searchTool(deps, reader), readTool(deps, reader)] : [];
  };
}

function searchTool(deps: Needs, reader: Reader): Tool {
  return defineTool({
    name: 'search_documents',
    description: searchDescription,
    input: searchInput,
    async run({ query }, { signal }) {
      const namespaces = await namespacesOf(deps, reader);
      const unread = await readAll(deps, namespaces, reader.userId, signal);
      const matches = await searchDocuments(deps.db.kysely, namespaces, query, matchesMax);
      const results = matches.map((match) => ({ ...match, cite: `[${match.file}, ${match.label}]` }));
      return {
        results,
        ...(unread === 0 ? {} : { note: `${unread} files are still being read. Search again later.` }),
      };
    },
  });
}

function readTool(deps: Needs, reader: Reader): Tool {
  return defineTool({
    name: 'read_document',
    description: readDescription,
    timeoutMs: readWaitMs + 10_000,
    input: readInput,
    async run({ id, page }, { signal }) {
      const { kysely } = deps.db;
      const row = await findFile(deps, reader, id.replace(/^artifact:\/\//, ''));
      const known = await deps.documents.read(row, reader.userId, readWaitMs, signal);
      if (known.state === 'working') throw new ToolFailure('The file is still being read. Try again later.');
      if (known.state === 'failed') throw new ToolFailure(known.problem.message);
      const [found] = await readPages(kysely, row.sha256, page, page);
      if (found === undefined) throw new ToolFailure(`There is no page ${page}: the file has ${known.pages}.`);
      const file = filenameOf(row.path);
      return { file, page, of: known.pages, cite: `[${file}, ${found.label}]`, text: found.text };
    },
  });
}

/** Waits a while for unread files. Resolves with the number of files that are still unread. */
async function readAll(
  { db, documents }: Needs,
  namespaces: readonly Namespace[],
  userId: string,
  signal: AbortSignal,
): Promise<number> {
  const unread = await unreadFiles(db.kysely, namespaces, unreadMax);
  const infos = await Promise.all(unread.map((file) => documents.read(file, userId, searchWaitMs, signal)));
  return infos.filter(({ state }) => state === 'working').length;
}

async function findFile(deps: Needs, reader: Reader, id: string): Promise<ArtifactRow> {
  for (const namespace of await namespacesOf(deps, reader)) {
    const row = await findArtifact(deps.db.kysely, namespace, { id });
    if (row !== undefined) return row;
  }
  throw artifactNotFound();
}

/** Read at each call: a person who may not use the assistant any more does not find its files. */
async function namespacesOf({ db }: Needs, { userId, chatId, assistantId }: Reader): Promise<Namespace[]> {
  const own = await getNamespace(db.kysely, { userId }, { chatId });
  if (assistantId === null) return [own];
  try {
    return [own, await getNamespace(db.kysely, { userId }, { assistantId })];
  } catch (error) {
    if (error instanceof ApiError && error.code === 'not_found') return [own];
    throw error;
  }
}
