/** The environment of a command in a workspace, as the tool reads it (contracts/src/workspace/daemon.ts). */
export type Config = {
  /** The control plane's address: `http://…`, `https://…` or `unix:<path>`. */
  url: string | undefined;
  /** A file with the workspace's own token. */
  tokenFile: string | undefined;
  /** The namespace of commands without --chat and --project: `chat:<id>` or `project:<id>`. */
  scope: string | undefined;
  /** False if people ask for plain text (no-color.org). */
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
