import { fileAddress } from '../api/api.ts';
import type { FileScope } from '../api/upload.ts';

/** Addresses of an artifact's bytes, for links, pictures and frames. */

export function previewAddress(scope: FileScope, id: string, version?: number): string {
  return fileAddress('GET /api/artifacts/preview', { ...scopeQuery(scope), id, ...versionQuery(version) });
}

export function downloadAddress(scope: FileScope, id: string, version?: number): string {
  return fileAddress('GET /api/artifacts/download', { ...scopeQuery(scope), id, ...versionQuery(version) });
}

/** Without a version, the present one. */
export function versionQuery(version: number | undefined): { version: string } | Record<string, never> {
  return version === undefined ? {} : { version: String(version) };
}

type ScopeQuery = { chatId: string } | { projectId: string } | { assistantId: string };

export function scopeQuery({ chatId, projectId, assistantId }: FileScope): ScopeQuery {
  if (chatId !== undefined) return { chatId };
  return projectId === undefined ? { assistantId } : { projectId };
}
