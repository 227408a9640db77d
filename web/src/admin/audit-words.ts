import type { AuditEvent } from '@homeport/contracts/admin';
import type { TextId, Translate } from '../i18n.ts';

/** Events of the audit log in words. */

export type Names = ReadonlyMap<string, { name: string; email: string }>;

export const auditAreas = ['all', 'signIn', 'people', 'catalogue', 'installation'] as const;
export type AuditArea = (typeof auditAreas)[number];

const areas: Record<string, AuditArea> = {
  session: 'signIn',
  password: 'signIn',
  oidc: 'signIn',
  user: 'people',
  users: 'people',
  invitation: 'people',
  provider: 'catalogue',
  model: 'catalogue',
  model_tiers: 'catalogue',
  mcp: 'catalogue',
  mcp_server: 'catalogue',
};

/** `<what>.<happened>`: the part of the product that it is about. */
export function areaOf(action: string): AuditArea {
  return areas[action.split('.')[0] ?? ''] ?? 'installation';
}

/** The sentence of an event; an action without one is shown by its name. */
export function sentenceOf(event: AuditEvent, names: Names, t: Translate): string {
  const values = { actor: actorOf(event, names, t), target: targetOf(event, names) };
  const isNobody = event.action === 'session.sign_in_failed' && event.targetId === null;
  const id = sentenceId(isNobody ? `${event.action}.unknown` : event.action);
  const sentence = t(id, values);
  // An id without a text comes back as it is.
  return sentence === id ? t('audit.is.other', { ...values, action: event.action.replace(/[._]/g, ' ') }) : sentence;
}

function sentenceId(action: string): TextId {
  return `audit.is.${action}` as TextId;
}

export function actorOf({ actorId }: AuditEvent, names: Names, t: Translate): string {
  if (actorId === null) return t('audit.nobody');
  return names.get(actorId)?.name ?? shortId(actorId);
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

/** All that a search looks through, in lower case. */
export function auditWords(event: AuditEvent, sentence: string, names: Names): string {
  const { action, address, targetId, actorId, requestId, details } = event;
  const person = actorId === null ? '' : (names.get(actorId)?.email ?? '');
  return [sentence, person, action, address, targetId, actorId, requestId, JSON.stringify(details)]
    .join(' ')
    .toLowerCase();
}

/** Neighbouring events of one local calendar day together, in the order given. */
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
