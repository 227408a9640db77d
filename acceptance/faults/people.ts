import assert from 'node:assert/strict';
import { Caller } from '../product.ts';

/** Invites a person who accepts; returns their signed-in caller. */
export async function addPerson(administrator: Caller, index: number): Promise<Caller> {
  const email = `person-${index}@example.org`;
  const { token } = await administrator.must('POST', '/api/invitations', { email });
  const path = '/api/invitations';
  const response = await fetch(administrator.url + path, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token, name: `Person ${index}`, password: 'correct-horse-42' }),
  });
  assert.equal(response.status, 201);
  const cookie = response.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ');
  return new Caller(administrator.url, cookie);
}

/** Resolves when the shell is ready. */
export function openTerminal(caller: Caller): Promise<WebSocket> {
  const address = `${caller.url.replace('http', 'ws')}/api/workspace/terminal?id=acceptance`;
  // Node's own accepts headers, unlike browsers'.
  const socket = new WebSocket(address, { headers: { cookie: caller.cookie, origin: caller.url } });
  return new Promise((resolve, reject) => {
    socket.addEventListener('error', () => reject(new Error('no terminal was opened')));
    socket.addEventListener('message', () => resolve(socket), { once: true });
  });
}
