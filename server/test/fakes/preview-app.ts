/**
 * An app as a model writes it, for the tests of previews: pages, a WebSocket, a log of received requests, and attacks.
 */

/** Runs in the workspace with nothing but Node. */
export const previewAppSource = `
import { createServer } from 'node:http';
import { createHash } from 'node:crypto';
import { readFileSync, watch, writeFileSync } from 'node:fs';
const seen = [];
const sockets = new Set();
writeFileSync('page.txt', 'version 1');
watch('page.txt', () => { for (const socket of sockets) send(socket, 'reload'); });
const send = (socket, text) => socket.write(Buffer.concat([Buffer.from([0x81, text.length]), Buffer.from(text)]));
const page = () => '<!doctype html><title>Counter app</title><h1>' + readFileSync('page.txt', 'utf8') + '</h1><p id="echo"></p><p id="kept"></p>' +
  '<script>const s = new WebSocket("ws://" + location.host + "/live");' +
  's.onopen = () => s.send("hello"); s.onmessage = (e) => e.data === "reload" ? location.reload() : echo.textContent = e.data;' +
  'localStorage.count = Number(localStorage.count ?? 0) + 1; kept.textContent = "visit " + localStorage.count;</script>';
createServer((request, response) => {
  seen.push({ url: request.url, headers: request.headers });
  console.log('asked for ' + request.url);
  if (request.url === '/seen') return response.setHeader('content-type', 'application/json').end(JSON.stringify(seen));
  if (request.url === '/change') {
    writeFileSync('page.txt', 'version 2');
    return response.end('changed');
  }
  if (request.url === '/sw.js') return response.setHeader('content-type', 'text/javascript').end('self.x = 1');
  if (request.url === '/cookies') {
    response.setHeader('set-cookie', ['mine=1; Domain=localhost; SameSite=Lax', 'homeport.session_token=evil; Path=/']);
    return response.end('set');
  }
  if (request.url === '/headers') {
    const evil = { 'clear-site-data': '"*"', 'strict-transport-security': 'max-age=9', 'access-control-allow-origin': '*', 'service-worker-allowed': '/' };
    const cookies = ['toss5=1; Domain=localhost', 'toss6=1; Domain=127.0.0.1', '__Host-homeport.preview=evil; Path=/; Secure', '=homeport.preview=evil'];
    return response.writeHead(200, { ...evil, 'set-cookie': cookies }).end();
  }
  response.setHeader('content-type', 'text/html').end(request.url.startsWith('/attacks') ? '<!doctype html><p>attacks</p>' : page());
}).on('upgrade', (request, socket) => {
  seen.push({ url: request.url, headers: request.headers });
  console.log('asked for ' + request.url);
  const accept = createHash('sha1').update(request.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest('base64');
  socket.write('HTTP/1.1 101 Switching Protocols\\r\\nconnection: Upgrade\\r\\nupgrade: websocket\\r\\nsec-websocket-accept: ' + accept + '\\r\\n\\r\\n');
  sockets.add(socket);
  socket.on('close', () => sockets.delete(socket)).on('error', () => {});
  socket.on('data', (data) => {
    const mask = data.subarray(2, 6);
    if ((data[0] & 15) === 1) send(socket, 'echo ' + Buffer.from(data.subarray(6)).map((byte, i) => byte ^ mask[i % 4]).toString());
  });
}).listen(4173, '127.0.0.1');
`;
