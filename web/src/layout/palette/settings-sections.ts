import type { LinkProps } from '@tanstack/react-router';
import {
  Archive,
  ArrowLeftRight,
  Boxes,
  ChartColumn,
  Database,
  FileCode2,
  Gauge,
  GraduationCap,
  KeyRound,
  KeySquare,
  Layers,
  type LucideIcon,
  MailPlus,
  MessageSquareText,
  Palette,
  Plug,
  ScrollText,
  Share2,
  ShieldCheck,
  SlidersHorizontal,
  SquareSlash,
  Stethoscope,
  UserRound,
  UsersRound,
  Wallet,
  Wrench,
} from 'lucide-react';
import { type Access, isPlain } from '../../conversation/access.ts';
import type { TextId } from '../../i18n/i18n.ts';

export type SettingsPath = NonNullable<LinkProps['to']>;
export type SettingsSection = {
  to: SettingsPath;
  text: TextId;
  /** Name of its tab, if the group has the page's own name. */
  tab?: TextId;
  Icon: LucideIcon;
  /** The permission without which the page is not listed; `any`: for people who manage models or tools. */
  needs?: 'providers' | 'tools' | 'any';
};
export type SettingsGroup = { text: TextId; Icon: LucideIcon; pages: readonly SettingsSection[] };

/** Groups of up to this many pages show them as tabs, larger ones in the list of groups. */
const tabsMax = 3;

const account: SettingsGroup = {
  text: 'settings.account',
  Icon: UserRound,
  pages: [{ to: '/settings/account', text: 'settings.account', Icon: UserRound }],
};
const personalization: SettingsGroup = {
  text: 'settings.personalization',
  Icon: SlidersHorizontal,
  pages: [
    {
      to: '/settings/personalization',
      text: 'settings.personalization',
      tab: 'settings.aboutYou',
      Icon: SlidersHorizontal,
    },
    { to: '/settings/prompts', text: 'settings.prompts', Icon: SquareSlash },
    { to: '/settings/skills', text: 'settings.skills', Icon: GraduationCap },
  ],
};
const data: SettingsGroup = {
  text: 'settings.data',
  Icon: Database,
  pages: [
    { to: '/settings/import-export', text: 'settings.moving', Icon: ArrowLeftRight },
    { to: '/settings/shares', text: 'settings.shares', Icon: Share2 },
    { to: '/settings/usage', text: 'settings.usage', Icon: ChartColumn, needs: 'any' },
  ],
};
const modelsAndTools: SettingsGroup = {
  text: 'settings.modelsAndTools',
  Icon: Boxes,
  pages: [
    { to: '/settings/providers', text: 'settings.providers', Icon: Plug, needs: 'providers' },
    { to: '/settings/models', text: 'settings.models', Icon: Boxes, needs: 'providers' },
    { to: '/settings/tiers', text: 'settings.tiers', Icon: Layers, needs: 'providers' },
    { to: '/settings/tools', text: 'settings.tools', Icon: Wrench, needs: 'tools' },
    { to: '/settings/tokens', text: 'settings.tokens', Icon: KeySquare, needs: 'any' },
  ],
};
const administration: SettingsGroup = {
  text: 'settings.admin',
  Icon: ShieldCheck,
  pages: [
    { to: '/settings/admin/overview', text: 'settings.overview', Icon: Gauge },
    { to: '/settings/admin/users', text: 'settings.users', Icon: UsersRound },
    { to: '/settings/admin/invitations', text: 'settings.invitations', Icon: MailPlus },
    { to: '/settings/admin/single-sign-on', text: 'settings.singleSignOn', Icon: KeyRound },
    { to: '/settings/admin/branding', text: 'settings.branding', Icon: Palette },
    { to: '/settings/admin/instructions', text: 'settings.instructions', Icon: MessageSquareText },
    { to: '/settings/admin/mcp', text: 'settings.offers', Icon: Wrench },
    { to: '/settings/admin/usage', text: 'settings.allUsage', Icon: ChartColumn },
    { to: '/settings/admin/budgets', text: 'settings.budgets', Icon: Wallet },
    { to: '/settings/admin/manifest', text: 'settings.manifest', Icon: FileCode2 },
    { to: '/settings/admin/audit', text: 'settings.audit', Icon: ScrollText },
    { to: '/settings/admin/backups', text: 'settings.backups', Icon: Archive },
    { to: '/settings/admin/check', text: 'settings.check', Icon: Stethoscope },
  ],
};

/** The groups of the settings and their pages, as far as a person may use them. */
export function settingsGroups(access: Access): SettingsGroup[] {
  const groups = [account, personalization, data, modelsAndTools, ...(access.isAdmin ? [administration] : [])];
  return groups
    .map((group) => ({ ...group, pages: group.pages.filter(({ needs }) => isAllowed(needs, access)) }))
    .filter(({ pages }) => pages.length > 0);
}

/** Whether the pages of a group are shown as tabs of one page. */
export function hasTabs({ pages }: SettingsGroup): boolean {
  return pages.length > 1 && pages.length <= tabsMax;
}

/** The group and the page of an address. */
export function findSection(
  groups: readonly SettingsGroup[],
  pathname: string,
): { group: SettingsGroup; page: SettingsSection } | undefined {
  for (const group of groups) {
    const page = group.pages.find(({ to }) => pathname === to || pathname.startsWith(`${to}/`));
    if (page) return { group, page };
  }
  return undefined;
}

/** Pages of models that show nothing to people who may not change them. */
const closedPages: readonly string[] = ['/settings/providers', '/settings/models', '/settings/tiers'];

/** Whether a page of the settings is closed to a person, who may have its address. */
export function isClosed(pathname: string, access: Access): boolean {
  return !access.canEditProviders && closedPages.includes(pathname.replace(/\/$/, ''));
}

function isAllowed(needs: SettingsSection['needs'], access: Access): boolean {
  if (needs === undefined) return true;
  if (needs === 'providers') return access.canEditProviders;
  return needs === 'tools' ? access.canEditTools : !isPlain(access);
}
