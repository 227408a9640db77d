import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';

/** Connections to a server that the operator's own settings name, such as an object store: no person chose it. */
export type OperatorConnections = { httpAgent: HttpAgent; httpsAgent: HttpsAgent; close(): void };

/**
 * Agents for a library that speaks to such a server. It may be at any address, as the database may, so the guard is not asked;
 * proxies of the environment are not either.
 */
export function openOperatorConnections(maxSockets: number): OperatorConnections {
  const options = { keepAlive: true, maxSockets };
  const [httpAgent, httpsAgent] = [new HttpAgent(options), new HttpsAgent(options)];
  return {
    httpAgent,
    httpsAgent,
    close() {
      httpAgent.destroy();
      httpsAgent.destroy();
    },
  };
}
