import { DaemonError } from './daemon-error.ts';
import { type Exchange, readJson, sendJson } from './http.ts';
import { spaceOf } from './space/home-space.ts';
import type { Daemon } from './state.ts';

const bodyMaxBytes = 16 * 1024;
const messageMaxChars = 500;

/** Shows the message in terminals and in the output of running commands, and refuses to begin anything new. */
export async function startDraining(exchange: Exchange, daemon: Daemon): Promise<void> {
  const { message } = await readJson(exchange, bodyMaxBytes);
  if (typeof message !== 'string' || message === '' || message.length > messageMaxChars) {
    throw new DaemonError('invalid_request', `message is a text of at most ${messageMaxChars} characters`);
  }
  daemon.activity.drain(message);
  spaceOf(daemon).announce(message);
  sendJson(exchange, 200, { ok: true });
}
