import { limits } from '@homeport/contracts/limits';
import { findJsonExcess } from '../../platform/json/json-scan.ts';
import type { ZipArchive } from '../archive.ts';
import { parseCounted } from './counted-json.ts';
import { fileOf } from './homeport.ts';
import { importBounds, type ReadAssistant, type ReadItem, type ReadPrompt } from './read-conversation.ts';
import { items, type Members, members, name } from './values.ts';

/** Items that a user created besides conversations, from Homeport's own full export, written by export-account.ts. */

const itemBounds = { depth: 20, values: 2_000, names: 1_000 };

/** In the order of the archive; nothing if it is not this export. */
export async function* readOwn(archive: ZipArchive): AsyncGenerator<ReadItem, void> {
  const about = archive.entries.find((entry) => /^([^/]+\/)?homeport\.json$/.test(entry));
  if (about === undefined) return;
  const top = about.slice(0, -'homeport.json'.length);
  const listIn = async (entry: string, key: string): Promise<readonly unknown[]> => {
    if (!archive.has(`${top}${entry}`)) return [];
    const bytes = await archive.readWhole(`${top}${entry}`, importBounds.ownBytes);
    return items(members(parseCounted(bytes, importBounds.json))[key]).slice(0, importBounds.own);
  };
  for (const value of await listIn('prompts.json', 'prompts')) yield promptOf(value);
  for (const value of await listIn('assistants.json', 'assistants')) yield assistantOf(value);
  yield* skillsIn(archive.entries, `${top}skills/`);
}

function promptOf(value: unknown): ReadPrompt {
  const own = modest(value);
  const title = name(own.title) ?? name(own.name) ?? 'Unnamed';
  return { kind: 'prompt', source: 'homeport', sourceId: name(own.name) ?? '', title, fields: own, notes: shared(own) };
}

function assistantOf(value: unknown): ReadAssistant {
  const { files: listed, ...fields } = members(value);
  const own = modest(fields);
  const title = name(own.name) ?? 'Unnamed';
  const known = { source: 'homeport', sourceId: name(own.id) ?? title, title } as const;
  const files = items(listed)
    .slice(0, limits.assistantFilesMax)
    .flatMap((file) => fileOf(members(file)));
  return { kind: 'assistant', ...known, fields: own, files, notes: shared(own) };
}

/** One for each folder `skills/<for whom>/<name>/`; their files are read when they are imported. */
function* skillsIn(entries: readonly string[], folder: string): Generator<ReadItem, void> {
  const found = new Map<string, { entry: string; path: string }[]>();
  for (const entry of entries) {
    if (!entry.startsWith(folder)) continue;
    const [forWhom, title, ...path] = entry.slice(folder.length).split('/');
    if (forWhom === undefined || title === undefined || path.length === 0) continue;
    const key = `${forWhom}/${title}`;
    if (!found.has(key) && found.size === importBounds.own) continue;
    const files = found.get(key) ?? [];
    found.set(key, files);
    // One more than a skill may have shows that it has too many.
    if (files.length <= limits.skillFiles) files.push({ entry, path: path.join('/') });
  }
  for (const [key, files] of found) {
    const [forWhom = '', title = ''] = key.split('/');
    const notes = shared({ audience: forWhom });
    const sourceId = name(key, 300) ?? '';
    yield { kind: 'skill', source: 'homeport', sourceId, title: name(title, 100) ?? 'Unnamed', files, notes };
  }
}

/**
 * The members of one prompt or assistant; only its names if it is larger than any, so that nothing large is checked.
 */
function modest(value: unknown): Members {
  const own = members(value);
  const json = Buffer.from(JSON.stringify(own));
  if (json.length <= importBounds.ownItemBytes && findJsonExcess(json, itemBounds) === undefined) return own;
  return { id: name(own.id), name: name(own.name), title: name(own.title) };
}

function shared({ audience }: Members): string[] {
  return audience === undefined || audience === 'me' ? [] : ['It was shared with others; here it is yours alone'];
}
