import { ApiError } from '@homeport/contracts/errors';

/** The typed 507 for a store without space. */
export function storageFull(cause: unknown): ApiError {
  return new ApiError('storage_full', 'Not saved: the server is out of storage space', { cause });
}

/** Error codes of file systems and S3-compatible servers for exhausted space or quota. */
const fullCodes = ['ENOSPC', 'EDQUOT', 'EFBIG', 'QuotaExceeded', 'XMinioStorageFull', 'InsufficientCapacity'];

export function isStorageFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && fullCodes.includes(String(error.code))) || fullCodes.includes(error.name);
}
