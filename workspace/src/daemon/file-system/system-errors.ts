import type { DaemonErrorCode } from '@homeport/contracts/workspace/daemon-errors';
import { DaemonError } from '../daemon-error.ts';

/**
 * Error codes and messages for the system's error codes. The system's own texts contain descriptors and are never sent.
 */
const faults: Record<string, [DaemonErrorCode, string]> = {
  ENOENT: ['not_found', 'File or folder not found'],
  ENOTDIR: ['not_found', 'File or folder not found'],
  EEXIST: ['path_taken', 'Something with this name already exists'],
  ENOTEMPTY: ['path_taken', 'Something with this name already exists'],
  EISDIR: ['path_taken', 'A folder with this name already exists'],
  ELOOP: ['invalid_path', 'The path goes through a link that cannot be followed'],
  ENAMETOOLONG: ['invalid_path', 'A name in the path is too long'],
  EXDEV: ['invalid_path', 'The path leaves the home folder'],
  EINVAL: ['invalid_request', 'The file system does not allow this name or place'],
  EILSEQ: ['invalid_request', 'The file system does not allow this name or place'],
  ENXIO: ['invalid_path', 'This is neither a file nor a folder'],
  EACCES: ['invalid_request', 'The permissions of the file or its folder do not allow it'],
  EPERM: ['invalid_request', 'The permissions of the file or its folder do not allow it'],
  EROFS: ['invalid_request', 'The permissions of the file or its folder do not allow it'],
  EBUSY: ['invalid_request', 'The file is in use by the system'],
  ETXTBSY: ['invalid_request', 'The file is in use by the system'],
  ENOSPC: ['storage_full', 'The disk is full'],
  EDQUOT: ['storage_full', 'The disk is full'],
  EFBIG: ['storage_full', 'The file is larger than the workspace allows'],
  EMFILE: ['busy', 'Too many files are open'],
  ENFILE: ['busy', 'Too many files are open'],
};

/** The system's error code; empty for any other error. */
export function errnoOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** The refusal for a failed system call; any other error as it is. */
export function refusalOf(error: unknown): unknown {
  const [code, message] = faults[errnoOf(error)] ?? [];
  return code === undefined || message === undefined ? error : new DaemonError(code, message);
}
