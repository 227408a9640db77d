/** What the tool finds in the environment of a command in a workspace (contracts/src/daemon.ts). */
export type Config = {
  /** Where the control plane answers: `http://…`, `https://…` or `unix:<path>`. */
  url: string | undefined;
  /** A file with the workspace's own token. */
  tokenFile: string | undefined;
  /** The namespace that commands without --chat and --project mean: `chat:<id>` or `project:<id>`. */
  scope: string | undefined;
  /** False where people ask for plain text (no-color.org). */
  wantsColor: boolean;
};

export const version = '0.1.0';

export function readConfig(environment: Record<string, string | undefined> = process.env): Config {
  return {
    url: environment.HOMEPORT_URL || undefined,
    tokenFile: environment.HOMEPORT_TOKEN_FILE || undefined,
    scope: environment.HOMEPORT_SCOPE || undefined,
    wantsColor: !environment.NO_COLOR && environment.TERM !== 'dumb',
  };
}
