/**
 * The command that the protocol's conformance package starts as the client: hands the server's address and the context
 * of the scenario to the test at the first argument, and ends when the test has used the server.
 */

const [, , test = '', serverUrl = ''] = process.argv;
const context: unknown = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');
const response = await fetch(test, { method: 'POST', body: JSON.stringify({ serverUrl, context }) });
process.exitCode = response.ok ? 0 : 1;
