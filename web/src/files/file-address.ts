import { fileAddress } from '../api.ts';
import type { FileScope } from '../upload.ts';

/** Addresses of an artifact's bytes, for links, pictures and frames. */

export function previewAddress(scope: FileScope, id: string): string {
  return fileAddress('GET /api/artifacts/preview', { ...scopeQuery(scope), id });
}

export function downloadAddress(scope: FileScope, id: string): string {
  return fileAddress('GET /api/artifacts/download', { ...scopeQuery(scope), id });
}

export function scopeQuery(scope: FileScope): { chatId: string } | { projectId: string } {
  return scope.chatId === undefined ? { projectId: scope.projectId } : { chatId: scope.chatId };
}
