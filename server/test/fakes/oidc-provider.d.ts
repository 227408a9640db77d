/** Types of the parts of the package that the tests use; it has none of its own. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  export default class Provider {
    constructor(issuer: string, configuration: object);
    callback(): (request: IncomingMessage, response: ServerResponse) => void;
    AccessToken: { find(token: string): Promise<{ scope?: string; aud?: string | string[] } | undefined> };
    on(event: 'grant.success', listener: (context: { oidc: { params: { grant_type: string } } }) => void): void;
  }
}
