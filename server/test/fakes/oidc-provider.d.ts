/** The package has no types of its own; what the tests use of it. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  export default class Provider {
    constructor(issuer: string, configuration: object);
    callback(): (request: IncomingMessage, response: ServerResponse) => void;
    AccessToken: { find(token: string): Promise<{ scope?: string; aud?: string | string[] } | undefined> };
    on(event: 'grant.success', listener: (context: { oidc: { params: { grant_type: string } } }) => void): void;
  }
}
