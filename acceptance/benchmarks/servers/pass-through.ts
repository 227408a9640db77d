import { Agent, createServer, request } from 'node:http';

/** P: the minimum Node can do between a browser and a provider. It forwards the provider's bytes and stores none. */
const [host = '127.0.0.1', port = '0'] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });

const server = createServer((incoming, outgoing) => {
  const { method, headers, url } = incoming;
  const upstream = request({ host, port: Number(port), path: url, method, headers, agent }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  upstream.on('error', () => outgoing.destroy());
  outgoing.on('close', () => upstream.destroy());
  incoming.pipe(upstream);
});

server.listen({ port: 0, host: '127.0.0.1', backlog: 1024 }, () => {
  const address = server.address();
  console.log(`listening on ${typeof address === 'object' && address !== null ? address.port : 0}`);
});
process.on('SIGTERM', () => process.exit(0));
