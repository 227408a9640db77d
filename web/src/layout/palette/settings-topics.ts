import type { TextId } from '../../i18n/i18n.ts';
import type { SettingsGroup, SettingsPath, SettingsSection } from './settings-sections.ts';

/** A task that people look for in the settings, by words of their own. */
export type SettingsTopic = { text: TextId; words: TextId; page: SettingsSection };
type Topic = { to: SettingsPath; text: TextId; words: TextId };

/** The first page that a person may use is meant where several have the same task. */
const topics: readonly Topic[] = [
  { to: '/settings/account', text: 'topic.password', words: 'topic.password.words' },
  { to: '/settings/account', text: 'topic.email', words: 'topic.email.words' },
  { to: '/settings/account', text: 'topic.appearance', words: 'topic.appearance.words' },
  { to: '/settings/account', text: 'topic.sessions', words: 'topic.sessions.words' },
  { to: '/settings/personalization', text: 'topic.aboutYou', words: 'topic.aboutYou.words' },
  { to: '/settings/prompts', text: 'topic.prompts', words: 'topic.prompts.words' },
  { to: '/settings/import-export', text: 'topic.export', words: 'topic.export.words' },
  { to: '/settings/import-export', text: 'topic.import', words: 'topic.import.words' },
  { to: '/settings/import-export', text: 'topic.deleteAccount', words: 'topic.deleteAccount.words' },
  { to: '/settings/shares', text: 'topic.shares', words: 'topic.shares.words' },
  { to: '/settings/usage', text: 'topic.usage', words: 'topic.usage.words' },
  { to: '/settings/providers', text: 'topic.apiKey', words: 'topic.apiKey.words' },
  { to: '/settings/models', text: 'topic.models', words: 'topic.models.words' },
  { to: '/settings/tools', text: 'topic.tools', words: 'topic.tools.words' },
  { to: '/settings/tokens', text: 'topic.tokens', words: 'topic.tokens.words' },
  { to: '/settings/admin/invitations', text: 'topic.invite', words: 'topic.invite.words' },
  { to: '/settings/admin/users', text: 'topic.people', words: 'topic.people.words' },
  { to: '/settings/admin/single-sign-on', text: 'topic.singleSignOn', words: 'topic.singleSignOn.words' },
  { to: '/settings/admin/branding', text: 'topic.branding', words: 'topic.branding.words' },
  { to: '/settings/admin/budgets', text: 'topic.budgets', words: 'topic.budgets.words' },
  { to: '/settings/admin/audit', text: 'topic.audit', words: 'topic.audit.words' },
  { to: '/settings/admin/backups', text: 'topic.backups', words: 'topic.backups.words' },
  { to: '/settings/admin/check', text: 'topic.check', words: 'topic.check.words' },
];

/** The topics of the pages that a person may use. */
export function settingsTopics(groups: readonly SettingsGroup[]): SettingsTopic[] {
  const pages = new Map(groups.flatMap((group) => group.pages.map((page) => [page.to, page] as const)));
  return topics.flatMap(({ to, text, words }) => {
    const page = pages.get(to);
    return page ? [{ text, words, page }] : [];
  });
}
