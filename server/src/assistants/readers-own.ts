import type { Parameters } from '@homeport/contracts/chat/parameters';
import { visibleProviderIds } from '../catalogue/sharing.ts';
import { usableBy } from './sharing.ts';

/** SQL that finds for a reader what is theirs of what an assistant names. All arguments are SQL names. */

/**
 * SQL: the reader's model for the version `v`, own or shared with them: the one it names, else one of the same name at
 * its provider; enabled ones first.
 */
export function readersModel(catalogue: string): string {
  return `
    select m.id, m.enabled and p.enabled as usable from models m join providers p on p.id = m.provider_id
    where m.provider_id in (${visibleProviderIds(catalogue)}) and (m.enabled or m.owner_id = ${catalogue})
      and (m.id = v.model_id or m.provider_model_id = v.provider_model_id)
    order by (m.enabled and p.enabled) desc, (m.id = v.model_id) is true desc, m.owner_id = ${catalogue} desc, m.seq limit 1`;
}

/**
 * SQL: the reader's MCP servers for the version `v`: the servers it names, else servers of the same offer. Never
 * servers of the same address: the count would confirm guesses of an address that only its author knows.
 */
export function readersServers(reader: string): string {
  return `
    select jsonb_agg(mine.id order by named.place) filter (where mine.id is not null) as ids,
      count(*) filter (where mine.id is null)::int as missing
    from jsonb_array_elements_text(v.mcp_server_ids) with ordinality named (id, place)
    left join mcp_servers theirs on theirs.id = named.id
    left join lateral (select s.id from mcp_servers s
      where s.owner_id = ${reader} and (s.id = named.id or s.offer_id = theirs.offer_id)
      order by s.id = named.id desc, s.seq limit 1) mine on true`;
}

/** An assistant as a turn takes part in it: everything in it is the reader's own. */
export type AnsweringAssistant = {
  id: string;
  name: string;
  version: number;
  instructions: string | null;
  parameters: Parameters;
  workspace: boolean;
  /** Null: all of the reader's. */
  serverIds: string[] | null;
  serversMissing: number;
  /** Whether it names a model, and the reader's enabled one, or else one of its tier. */
  namesModel: boolean;
  modelId: string | null;
  tierModelId: string | null;
};

/** One JSON object, `AnsweringAssistant`, in the column `value`: of the assistant `id`, when the reader may use it. */
export function answeringAssistant(id: string, reader: string, catalogue: string): string {
  return `
    select json_build_object('id', a.id, 'name', v.name, 'version', a.version, 'instructions', v.instructions,
      'parameters', v.parameters, 'workspace', v.workspace,
      'serverIds', case when v.mcp_server_ids is not null then coalesce(servers.ids, '[]') end,
      'serversMissing', servers.missing, 'namesModel', v.provider_model_id is not null,
      'modelId', model.id, 'tierModelId', tier.id) as value
    from assistants a join assistant_versions v on v.assistant_id = a.id and v.version = a.version
    left join lateral (${readersModel(catalogue)}) model on model.usable
    left join lateral (select m.id from models m join providers p on p.id = m.provider_id
      where m.provider_id in (${visibleProviderIds(catalogue)}) and m.tier = v.tier and m.enabled and p.enabled
      order by m.owner_id = ${catalogue} desc, m.seq limit 1) tier on true
    left join lateral (${readersServers(reader)}) servers on true
    where a.id = ${id} and ${usableBy('a', reader)}`;
}
