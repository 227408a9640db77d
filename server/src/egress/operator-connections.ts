import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';

/** Connections to a server that the operator's settings name, such as an object store. */
export type OperatorConnections = { httpAgent: HttpAgent; httpsAgent: HttpsAgent; close(): void };

/**
 * Agents for a library that connects to such a server. Like the database, it can be at any address, so neither the
 * guard nor a proxy from the environment is used.
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
