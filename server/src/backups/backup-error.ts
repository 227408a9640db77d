/** Why a backup cannot be made, read or restored, for people. Nothing was changed. */
export class BackupError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'BackupError';
  }
}

export function damaged(what: string): BackupError {
  return new BackupError(`The backup is damaged: ${what}. Use another copy of it.`);
}
