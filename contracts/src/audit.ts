/**
 * Every action in the audit log (contract.md section 10), as `<what>.<happened>` in the specification's words. A new
 * action is one line here.
 */
export const auditActions = [
  'setup.completed',

  'session.signed_in',
  'session.sign_in_failed',
  'session.signed_out',
  'session.ended',
  'password.changed',
  'token.created',
  'token.used',
  'token.deleted',

  'user.created',
  'user.updated',
  'user.deleted',
  'user.exported',
  'users.updated',
  'invitation.created',
  'invitation.revoked',
  'invitation.redeemed',

  'provider.created',
  'provider.updated',
  'provider.deleted',
  'model.created',
  'model.updated',
  'model.deleted',
  'model_tiers.replaced',

  'settings.updated',
  'web_search.updated',
  'conversation.updated',
  'tool_rules.updated',
  'oidc.provisioned',
  'oidc.linked',
  'oidc.unlinked',
  'oidc.refused',

  'project.created',
  'project.updated',
  'project.member_added',
  'project.member_changed',
  'project.member_removed',

  'assistant.created',
  'assistant.updated',
  'assistant.deleted',
  'prompt.created',
  'prompt.updated',
  'prompt.deleted',
  'skill.created',
  'skill.updated',
  'skill.deleted',
  'skill.trusted',

  'share.created',
  'share.updated',
  'share.deleted',

  'manifest.applied',
  'artifact.imported',
  'import.undone',

  'mcp_server.created',
  'mcp_server.updated',
  'mcp_server.deleted',
  'mcp_server.tested',
  'mcp_server.trusted',
  'mcp_server.untrusted',
  'mcp_server.connected',
  'mcp_server.disconnected',
  'mcp_offer.created',
  'mcp_offer.updated',
  'mcp_offer.deleted',
  'mcp_offer.trusted',
  'mcp_offer.untrusted',

  'keys.rotated',
  'keys.adopted',
  'store.adopted',
  'backup.created',
  'backup.restored',
  'maintenance.changed',
] as const;

export type AuditAction = (typeof auditActions)[number];
