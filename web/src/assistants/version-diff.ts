import type { AssistantVersion } from '@homeport/contracts/assistants';
import { type DiffRun, diffTexts } from '@homeport/contracts/text/text-diff';

/** Fields of a version, in display order. */
const versionFields = [
  'name',
  'description',
  'icon',
  'instructions',
  'files',
  'model',
  'parameters',
  'servers',
  'workspace',
  'starters',
] as const;
export type VersionField = (typeof versionFields)[number];
export type VersionTexts = Record<VersionField, string>;

/** Words for what a version has no text of itself. */
export type VersionLabels = {
  model: (version: Pick<AssistantVersion, 'modelId' | 'tier' | 'missing'>) => string;
  server: (id: string) => string;
  allServers: string;
  picture: string;
  on: string;
  off: string;
};

export function versionTexts(version: AssistantVersion, words: VersionLabels): VersionTexts {
  const { icon, parameters, mcpServerIds, workspace, starters, files } = version;
  return {
    name: version.name,
    description: version.description,
    icon: icon?.startsWith('data:') ? words.picture : (icon ?? ''),
    instructions: version.instructions ?? '',
    // Another content under the same path shows as a removed and an added line.
    files: files.map(({ path, sha256 }) => `${path} (${sha256.slice(0, 8)})`).join('\n'),
    model: words.model(version),
    parameters: Object.entries(parameters)
      .map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
      .join('\n'),
    servers: mcpServerIds === null ? words.allServers : mcpServerIds.map(words.server).join('\n'),
    workspace: workspace ? words.on : words.off,
    starters: starters.join('\n'),
  };
}

export type FieldChange = { field: VersionField; runs: DiffRun[] };

/** Whether a field is a running text, compared word by word; all else is a value or a list of them. */
export function isText(field: VersionField): boolean {
  return field === 'instructions' || field === 'description';
}

/** The fields that two versions have another text for. */
export function changedFields(before: VersionTexts, after: VersionTexts): FieldChange[] {
  return versionFields.flatMap((field) => {
    const [old, now] = [before[field], after[field]];
    if (old === now) return [];
    return [{ field, runs: diffTexts(old, now, isText(field) ? 'words' : 'lines') }];
  });
}
