import { randomUUID } from 'node:crypto';
import type { DaemonHealth } from '@homeport/contracts/workspace/daemon';
import { protocolVersion } from './config.ts';
import { type Exchange, hasToken, sendJson } from './http.ts';
import { spaceOf } from './space/home-space.ts';
import type { Daemon } from './state.ts';
import { measureUsage } from './usage.ts';

const bootId = randomUUID();

/** Public as `{ok: true, protocol}`; with the token it reports what runs and what it uses. */
export function getHealth(exchange: Exchange, daemon: Daemon): void {
  if (!hasToken(daemon.config.tokenHash, exchange.request)) {
    sendJson(exchange, 200, { ok: true, protocol: protocolVersion });
    return;
  }
  const health: DaemonHealth = {
    ok: true,
    protocol: protocolVersion,
    generation: daemon.config.generation,
    bootId,
    ...daemon.activity.snapshot(),
    usage: measureUsage(spaceOf(daemon)),
  };
  sendJson(exchange, 200, health);
}
