import { assistantContent } from '@homeport/contracts/assistants';
import { promptFields } from '@homeport/contracts/prompts';
import { z } from 'zod';
import { isPicture } from '../../assistants/versions.ts';
import type { ZipArchive } from '../archive.ts';
import { importBounds, type LeftOut, type ReadAssistant, type ReadItem, type ReadPrompt } from './read-conversation.ts';
import { isMembers, items, members, name } from './values.ts';

/** What a person made besides conversations, from Homeport's own export of everything: export-account.ts writes it. */

const prompt = z.object(promptFields);
const assistant = z
  .object({
    ...assistantContent,
    icon: assistantContent.icon.refine((icon) => icon === null || isPicture(icon)),
    providerModelId: z.string().max(200).nullable(),
    tier: assistantContent.tier.default(null),
    // Earlier exports do not say which: then none.
    mcpServers: z.array(z.string()).max(200).nullable().default([]),
  })
  .omit({ modelId: true, mcpServerIds: true });
export type AssistantFields = z.output<typeof assistant>;
export type PromptFields = z.output<typeof prompt>;

/** In the order of the archive; nothing if it is not this export. */
export async function* readOwn(archive: ZipArchive): AsyncGenerator<ReadItem, void> {
  const about = archive.entries.find((entry) => /^([^/]+\/)?homeport\.json$/.test(entry));
  if (about === undefined) return;
  const top = about.slice(0, -'homeport.json'.length);
  const listIn = async (entry: string, key: string): Promise<readonly unknown[]> => {
    if (!archive.has(`${top}${entry}`)) return [];
    const bytes = await archive.readWhole(`${top}${entry}`, importBounds.ownBytes);
    return items(members(parsed(bytes))[key]).slice(0, importBounds.own);
  };
  for (const value of await listIn('prompts.json', 'prompts')) yield promptOf(value);
  for (const value of await listIn('assistants.json', 'assistants')) yield assistantOf(value);
  yield* skillsIn(archive.entries, `${top}skills/`);
}

function promptOf(value: unknown): ReadPrompt | LeftOut {
  const { success, data } = prompt.safeParse(value);
  if (!success) return damaged('prompt', value);
  return {
    kind: 'prompt',
    source: 'homeport',
    sourceId: data.name,
    title: data.title,
    prompt: data,
    notes: shared(value),
  };
}

function assistantOf(value: unknown): ReadAssistant | LeftOut {
  const { success, data } = assistant.safeParse(value);
  if (!success) return damaged('assistant', value);
  const sourceId = name(members(value).id) ?? data.name;
  const own = { source: 'homeport', sourceId, title: data.name } as const;
  return { kind: 'assistant', ...own, assistant: data, notes: shared(value) };
}

/** One for each folder `skills/<for whom>/<name>/`; what is in them is read when they are imported. */
function* skillsIn(entries: readonly string[], folder: string): Generator<ReadItem, void> {
  const found = new Map<string, { entry: string; path: string }[]>();
  for (const entry of entries) {
    if (!entry.startsWith(folder)) continue;
    const [forWhom, title, ...path] = entry.slice(folder.length).split('/');
    if (forWhom === undefined || title === undefined || path.length === 0) continue;
    const key = `${forWhom}/${title}`;
    if (!found.has(key) && found.size === importBounds.own) continue;
    found.set(key, [...(found.get(key) ?? []), { entry, path: path.join('/') }]);
  }
  for (const [key, files] of found) {
    const [forWhom = '', title = ''] = key.split('/');
    const notes = shared({ audience: forWhom });
    const sourceId = name(key, 300) ?? '';
    yield { kind: 'skill', source: 'homeport', sourceId, title: name(title, 100) ?? 'Unnamed', files, notes };
  }
}

function shared(value: unknown): string[] {
  const { audience } = members(value);
  return audience === undefined || audience === 'me' ? [] : ['It was shared with others; here it is yours alone'];
}

function damaged(of: 'assistant' | 'prompt', value: unknown): LeftOut {
  const title = (isMembers(value) ? name(value.name) : undefined) ?? 'Unnamed';
  return { kind: 'left-out', of, source: 'homeport', sourceId: title, title, reason: 'its content is damaged' };
}

function parsed(bytes: Buffer | undefined): unknown {
  try {
    return bytes === undefined ? undefined : JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
