export function findPgBouncer(): string | undefined;
export function startPgBouncer(
  program: string,
  url: string,
  poolSize?: number,
): Promise<{ url: string; output(): string; stop(): Promise<void> }>;
