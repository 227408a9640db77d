import type { DaemonErrorCode } from '@homeport/contracts/workspace/daemon-errors';

/** A refusal with a message for the caller; never the system's own error texts, which name descriptors. */
export class DaemonError extends Error {
  readonly code: DaemonErrorCode;
  readonly headers: Record<string, string>;

  constructor(code: DaemonErrorCode, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.code = code;
    this.headers = headers;
  }
}
