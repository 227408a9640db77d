import type { AuditEvent } from '@homeport/contracts/admin';
import type { TextId, Translate } from '../../i18n/i18n.ts';

/** Events of the audit log in words. */

export type Names = ReadonlyMap<string, { name: string; email: string }>;

export const auditAreas = ['all', 'signIn', 'people', 'catalogue', 'installation'] as const;
export type AuditArea = (typeof auditAreas)[number];

const areas: Record<string, AuditArea> = {
  session: 'signIn',
  password: 'signIn',
  token: 'signIn',
  oidc: 'signIn',
  user: 'people',
  users: 'people',
  invitation: 'people',
  provider: 'catalogue',
  model: 'catalogue',
  model_tiers: 'catalogue',
  mcp_server: 'catalogue',
  mcp_offer: 'catalogue',
  tool_rules: 'catalogue',
};

/** `<what>.<happened>`: the part of the product that the action is about. */
export function areaOf(action: string): AuditArea {
  return areas[action.split('.')[0] ?? ''] ?? 'installation';
}

/** The sentence of an event; an action without one is shown by its name. */
export function sentenceOf(event: AuditEvent, names: Names, t: Translate): string {
  const origin = typeof event.details.origin === 'string' ? event.details.origin : '';
  const values = { actor: actorOf(event, names, t), target: targetOf(event, names), origin };
  const id = sentenceId(actionInFull(event));
  const sentence = t(id, values);
  // `t` returns an id without a text unchanged.
  return sentence === id ? t('audit.is.other', { ...values, action: event.action.replace(/[._]/g, ' ') }) : sentence;
}

/** Text variant of the action, for actions with more than one sentence. */
function actionInFull({ action, targetId, details }: AuditEvent): string {
  if (action === 'session.sign_in_failed') return targetId === null ? `${action}.unknown` : action;
  if (action === 'share.created') return details.kind === 'file' ? `${action}.file` : action;
  const changed = changedFields(details);
  // A new destination for conversations matters more than other changes.
  if (action === 'provider.updated') {
    if (changed.includes('baseUrl')) return `${action}.address`;
    return changed.includes('apiKey') ? `${action}.key` : action;
  }
  if (action === 'conversation.updated') return changed.join() === 'toolRules' ? `${action}.toolRules` : action;
  if (action !== 'user.updated') return action;
  if (changed.length !== 1) return action;
  if (changed[0] === 'enabled') return `${action}.${details.enabled === true ? 'enabled' : 'disabled'}`;
  if (changed[0] === 'role') return `${action}.${details.role === 'admin' ? 'admin' : 'user'}`;
  return changed[0] === 'password' || changed[0] === 'instructions' ? `${action}.${changed[0]}` : action;
}

/** The names of the fields that an event lists as changed. */
function changedFields(details: AuditEvent['details']): string[] {
  const { changed } = details;
  return Array.isArray(changed) ? changed.filter((name) => typeof name === 'string') : [];
}

function sentenceId(action: string): TextId {
  return `audit.is.${action}` as TextId;
}

function actorOf({ actorId }: AuditEvent, names: Names, t: Translate): string {
  if (actorId === null) return t('audit.nobody');
  return names.get(actorId)?.name ?? shortId(actorId);
}

/** Names of things, taken from other events in the log. */
export function namedTargets(events: readonly AuditEvent[]): Names {
  const names = new Map<string, { name: string; email: string }>();
  for (const { targetId, details } of events) {
    const name = details.name ?? details.displayName;
    if (targetId !== null && typeof name === 'string' && !names.has(targetId)) names.set(targetId, { name, email: '' });
  }
  return names;
}

function targetOf({ targetId, details }: AuditEvent, names: Names): string {
  const known = targetId === null ? undefined : names.get(targetId)?.name;
  const named = [known, details.name, details.displayName, details.label, details.email].find(
    (each) => typeof each === 'string' && each !== '',
  );
  return typeof named === 'string' ? named : targetId === null ? '' : shortId(targetId);
}

function shortId(id: string): string {
  return id.length > 13 ? `…${id.slice(-12)}` : id;
}

/** Searchable text of an event, in lower case. */
export function searchableText(event: AuditEvent, sentence: string, names: Names): string {
  const { action, address, targetId, actorId, requestId, details } = event;
  const person = actorId === null ? '' : (names.get(actorId)?.email ?? '');
  return [sentence, person, action, address, targetId, actorId, requestId, JSON.stringify(details)]
    .join(' ')
    .toLowerCase();
}

/** Groups neighboring events of one local calendar day, in the given order. */
export function groupByDay(events: readonly AuditEvent[]): { day: string; events: AuditEvent[] }[] {
  const groups: { day: string; events: AuditEvent[] }[] = [];
  for (const event of events) {
    const day = new Date(event.at).toDateString();
    const last = groups.at(-1);
    if (last?.day === day) last.events.push(event);
    else groups.push({ day, events: [event] });
  }
  return groups;
}

/** A value of the details on one line. */
export function detailText(value: unknown): string {
  if (typeof value === 'string') return value === '' ? '“”' : value;
  if (Array.isArray(value)) return value.map(detailText).join(', ');
  return JSON.stringify(value);
}
