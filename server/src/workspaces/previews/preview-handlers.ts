import type { endpoints } from '@homeport/contracts/endpoints';
import { ApiError } from '@homeport/contracts/errors';
import { workspacePorts } from '@homeport/contracts/workspace/daemon';
import type { Deps } from '../../deps.ts';
import type { Handler } from '../../http/handler.ts';
import { ownOrigin } from '../../http/origin.ts';
import { systemClock } from '../../platform/clock.ts';
import { RequestBudget } from '../request-budget.ts';
import { labelMaker, previewDomain, previewOrigin } from './preview-address.ts';
import { makeTicket, ticketPath, ticketSeconds } from './preview-tickets.ts';

type Endpoints = typeof endpoints;

/** One person's tickets must not push out the sign-ins of others, which are kept at the same place. */
const tickets = new RequestBudget({ burst: 30, perSecond: 0.5, now: systemClock.elapsed });

export const getWorkspacePorts: Handler<Deps, Endpoints['getWorkspacePorts']> = async (deps, { actor, request }) => {
  const { workspaces, config } = deps;
  const { phase } = await workspaces.status(actor.id);
  const host = request.headers.get('host') ?? '';
  const previews = phase !== 'disabled' && previewOrigin(previewDomain(config), 'x', host) !== undefined;
  // Asking for ports starts nothing: none would listen.
  if (phase !== 'running') return { ports: [], previews };
  const hold = await workspaces.hold(actor.id, 'transfer', request.signal);
  try {
    const { ports } = await hold.daemon.call('/v1/ports', workspacePorts, { signal: request.signal });
    return { ports, previews };
  } finally {
    await hold.release();
  }
};

export const postWorkspacePreview: Handler<Deps, Endpoints['postWorkspacePreview']> = async (
  deps,
  { actor, body, request },
) => {
  const { config, db, clock, workspaces } = deps;
  if (workspaces.mode === 'disabled') {
    throw new ApiError('workspace_disabled', workspaces.notice ?? 'Workspaces are switched off');
  }
  const label = labelMaker(config)(actor.id, body.port);
  const origin = previewOrigin(previewDomain(config), label, request.headers.get('host') ?? '');
  if (origin === undefined) {
    const hint = 'Open Homeport at localhost, or ask your administrator to set PREVIEW_ORIGIN.';
    throw new ApiError('not_found', `Previews have no address of their own here. ${hint}`);
  }
  const retryAfter = tickets.take(actor.id);
  if (retryAfter > 0) throw new ApiError('rate_limited', 'Too many previews at once. Wait a moment.', { retryAfter });
  const ticket = {
    label,
    userId: actor.id,
    sessionId: actor.sessionId,
    path: body.path ?? '/',
    from: ownOrigin(config, request),
  };
  const secret = await makeTicket(db.kysely, ticket, clock.now());
  const expiresAt = new Date(clock.now() + ticketSeconds * 1000).toISOString();
  return { url: `${origin}${ticketPath}${secret}`, expiresAt };
};
