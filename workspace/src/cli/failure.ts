/** Exit codes, as listed in `homeport help` and docs/workspaces.md. */
export const exitCodes = {
  ok: 0,
  failure: 1,
  usage: 2,
  notFound: 3,
  refused: 4,
  unreachable: 5,
  conflict: 6,
  noRoom: 7,
} as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Why a command failed, in plain words, and what to do about it. */
export class Failure extends Error {
  readonly exitCode: ExitCode;
  readonly hint: string | undefined;
  /** The control plane's error code. */
  readonly code: string | undefined;

  constructor(exitCode: ExitCode, message: string, options: { hint?: string; code?: string } = {}) {
    super(message);
    this.exitCode = exitCode;
    this.hint = options.hint;
    this.code = options.code;
  }
}

export function usage(message: string, hint?: string): Failure {
  return new Failure(exitCodes.usage, message, { hint });
}

/** Formats a Node error as one line: the failure and its target, without the stack. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return reasons[code] ?? error.message;
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  ECONNREFUSED: 'nothing is listening there',
  ECONNRESET: 'the connection broke',
  EISDIR: 'it is a folder',
  ENOENT: 'there is no such file or folder',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'part of the path is not a folder',
  ENOTFOUND: 'its name cannot be resolved',
  EPERM: 'not permitted',
  EPIPE: 'the connection broke',
  EROFS: 'the file system is read-only',
  ETIMEDOUT: 'it did not answer in time',
};
