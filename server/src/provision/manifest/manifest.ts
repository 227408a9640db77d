import { ApiError, type FieldError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import {
  type ManifestAssistant,
  type ManifestConversation,
  type ManifestHead,
  type ManifestPrompt,
  type ManifestProvider,
  type ManifestUser,
  manifestAssistant,
  manifestConversation,
  manifestHead,
  manifestPrompt,
  manifestUser,
} from '@homeport/contracts/provision/manifest';
import { z } from 'zod';
import type { Config } from '../../config/config.ts';
import { assertCustomHeaders } from '../../egress/headers.ts';

/** Checks of a manifest that don't depend on the installation. */

export type ParsedManifest = {
  head: ManifestHead;
  users: ManifestUser[];
  assistants: ManifestAssistant[];
  prompts: ManifestPrompt[];
  conversations: ManifestConversation[];
};

const detailsMax = 50;
const pathMax = 200;

const outline = manifestHead.extend({
  users: z.array(z.unknown()).max(limits.manifestUsersMax).optional(),
  assistants: z.array(z.unknown()).optional(),
  prompts: z.array(z.unknown()).optional(),
  conversations: z.array(z.unknown()).optional(),
});

/** Throws `invalid_request` with the path of each fault, at most fifty. */
export function validateManifest(value: unknown, edition: Config['edition']): ParsedManifest {
  const faults = new Faults();
  const parsed = faults.parse(outline, value, '');
  if (parsed === undefined) throw faults.error();
  const { users = [], assistants = [], prompts = [], conversations = [], ...head } = parsed;
  checkEdition(faults, head, edition);
  checkProviders(faults, head.providers ?? [], '');
  const manifest = {
    head,
    // Each replaces what it was made from: the two forms are never in memory together.
    users: parseEach(faults, users, manifestUser, 'users'),
    assistants: parseEach(faults, assistants, manifestAssistant, 'assistants'),
    prompts: parseEach(faults, prompts, manifestPrompt, 'prompts'),
    conversations: parseEach(faults, conversations, manifestConversation, 'conversations'),
  };
  if (faults.any) throw faults.error();
  checkUsers(faults, manifest.users, edition);
  checkOffers(faults, head.mcpOffers ?? []);
  checkPrompts(faults, manifest.prompts);
  checkConversations(faults, manifest.conversations);
  if (faults.any) throw faults.error();
  return manifest;
}

/** An `invalid_request` for faults that show only when the manifest is compared with the installation. */
export function manifestError(details: readonly FieldError[]): ApiError {
  const [first] = details;
  const where = first === undefined || first.path === '' ? '' : `${first.path}: `;
  return new ApiError('invalid_request', `The manifest is not valid. ${where}${first?.message ?? ''}`.trim(), {
    details: details.slice(0, detailsMax),
  });
}

class Faults {
  readonly #details: FieldError[] = [];

  get any(): boolean {
    return this.#details.length > 0;
  }

  get full(): boolean {
    return this.#details.length >= detailsMax;
  }

  add(path: string, message: string): void {
    if (!this.full) this.#details.push({ path: path.slice(0, pathMax), message });
  }

  /** The parsed value; undefined if it had faults, which were added. */
  parse<S extends z.ZodType>(schema: S, value: unknown, path: string): z.output<S> | undefined {
    const result = schema.safeParse(value);
    if (result.success) return result.data;
    for (const issue of result.error.issues) {
      if (issue.code !== 'unrecognized_keys') this.add(join(path, issue.path), issue.message);
      else for (const key of issue.keys) this.add(join(path, [...issue.path, key]), 'Unknown member');
    }
    return undefined;
  }

  error(): ApiError {
    return manifestError(this.#details);
  }
}

function join(path: string, rest: readonly PropertyKey[]): string {
  const tail = rest.map(String).join('.');
  return path === '' || tail === '' ? path + tail : `${path}.${tail}`;
}

function parseEach<S extends z.ZodType>(faults: Faults, list: unknown[], schema: S, name: string): z.output<S>[] {
  const parsed: z.output<S>[] = [];
  for (const [index, item] of list.entries()) {
    if (faults.full) break;
    const value = faults.parse(schema, item, `${name}.${index}`);
    if (value !== undefined) parsed.push(value);
    list[index] = undefined;
  }
  return parsed;
}

/** The catalogue's owner determines its place in the manifest (contract.md section 9). */
function checkEdition(faults: Faults, head: ManifestHead, edition: Config['edition']): void {
  if (edition === 'managed') return;
  const message = 'In the community edition each user has a catalogue: put this under users';
  if (head.providers !== undefined) faults.add('providers', message);
  if (head.modelTiers !== undefined) faults.add('modelTiers', message);
}

function checkUsers(faults: Faults, users: readonly ManifestUser[], edition: Config['edition']): void {
  const emails = new Set<string>();
  for (const [index, user] of users.entries()) {
    const path = `users.${index}`;
    if (emails.has(user.email)) faults.add(`${path}.email`, 'This address is in the manifest twice');
    emails.add(user.email);
    if (edition === 'managed') {
      for (const name of ['modelTiers', 'providers', 'providerSettingsEnabled'] as const) {
        if (user[name] === undefined) continue;
        faults.add(`${path}.${name}`, 'The managed edition has one shared catalogue, at the root of the manifest');
      }
    }
    checkProviders(faults, user.providers ?? [], `${path}.`);
  }
}

function checkProviders(faults: Faults, providers: readonly ManifestProvider[], prefix: string): void {
  let hasDefault = false;
  for (const [index, provider] of providers.entries()) {
    const path = `${prefix}providers.${index}`;
    checkHeaders(faults, provider, path);
    for (const [place, model] of provider.models.entries()) {
      const at = `${path}.models.${place}`;
      if (model.isDefault !== true) continue;
      if (hasDefault) faults.add(`${at}.isDefault`, 'Another model is already the default');
      hasDefault = true;
      if (model.enabled === false || provider.enabled === false) {
        faults.add(`${at}.isDefault`, 'Only an enabled model of an enabled provider can be the default');
      }
    }
  }
}

function checkHeaders(faults: Faults, provider: ManifestProvider, path: string): void {
  try {
    assertCustomHeaders(provider.headers ?? {}, `${path}.headers`);
  } catch (error) {
    if (!(error instanceof ApiError) || !Array.isArray(error.details)) throw error;
    for (const detail of error.details) faults.add(detail.path, detail.message);
  }
}

function checkOffers(faults: Faults, offers: NonNullable<ManifestHead['mcpOffers']>): void {
  const names = new Set<string>();
  for (const [index, { name, transport, url, command }] of offers.entries()) {
    if (names.has(name)) faults.add(`mcpOffers.${index}.name`, 'This name is in the manifest twice');
    names.add(name);
    const missing =
      transport === 'stdio' ? (command === undefined ? 'command' : undefined) : url === undefined ? 'url' : undefined;
    if (missing !== undefined) faults.add(`mcpOffers.${index}.${missing}`, 'Where the server is has to be given');
  }
}

function checkPrompts(faults: Faults, prompts: readonly ManifestPrompt[]): void {
  const names = new Set<string>();
  for (const [index, { ownerEmail, name }] of prompts.entries()) {
    const key = `${ownerEmail} ${name}`;
    if (names.has(key)) faults.add(`prompts.${index}.name`, 'This owner has this name in the manifest twice');
    names.add(key);
  }
}

function checkConversations(faults: Faults, conversations: readonly ManifestConversation[]): void {
  const ids = new Set<string>();
  const messageIds = new Set<string>();
  for (const [index, { id, messages }] of conversations.entries()) {
    if (ids.has(id)) faults.add(`conversations.${index}.id`, 'This id is in the manifest twice');
    ids.add(id);
    for (const [place, message] of messages.entries()) {
      if (messageIds.has(message.id)) {
        faults.add(`conversations.${index}.messages.${place}.id`, 'This id is in the manifest twice');
      }
      messageIds.add(message.id);
    }
  }
}
