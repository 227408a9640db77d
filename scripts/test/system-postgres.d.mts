export type PostgresInstallation = { version: string; bin: string };
export function findSystemPostgres(): PostgresInstallation | undefined;
export function startSystemPostgres(installation: { bin: string }): Promise<{ url: string; stop(): Promise<void> }>;
