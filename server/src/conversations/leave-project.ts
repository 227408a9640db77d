import type { AuditSource } from '../audit/audit.ts';
import { inTransaction } from '../db/pool.ts';
import type { Platform } from '../platform.ts';
import { removeMember } from '../projects/projects.ts';
import { lockChatsIn, takeChatsOut } from './chats.ts';

/**
 * Takes a member out of a project, or lets one leave. Their conversations go with them and are standalone from then on;
 * the files stay with the project. Throws `not_found`, `forbidden`, `invalid_request`.
 */
export async function leaveProject(
  deps: Pick<Platform, 'db'>,
  actorId: string,
  member: { projectId: string; userId: string },
  by: AuditSource,
): Promise<void> {
  await inTransaction(deps.db, async (trx) => {
    await lockChatsIn(trx, member.userId, member.projectId);
    await removeMember(trx, actorId, member, by);
    await takeChatsOut(trx, member.userId, member.projectId);
  });
}
