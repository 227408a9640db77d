import type { LinkProps } from '@tanstack/react-router';
import {
  Archive,
  ArrowLeftRight,
  Boxes,
  ChartColumn,
  FileCode2,
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
  SlidersHorizontal,
  SquareSlash,
  UserRound,
  UsersRound,
  Wallet,
  Wrench,
} from 'lucide-react';
import type { TextId } from '../../i18n/i18n.ts';

export type SettingsSection = { to: NonNullable<LinkProps['to']>; text: TextId; Icon: LucideIcon };

/** The sections of the settings, for their list and for the command palette. */
export const ownSections: readonly SettingsSection[] = [
  { to: '/settings/account', text: 'settings.account', Icon: UserRound },
  { to: '/settings/personalization', text: 'settings.personalization', Icon: SlidersHorizontal },
  { to: '/settings/prompts', text: 'settings.prompts', Icon: SquareSlash },
  { to: '/settings/skills', text: 'settings.skills', Icon: GraduationCap },
  { to: '/settings/providers', text: 'settings.providers', Icon: Plug },
  { to: '/settings/models', text: 'settings.models', Icon: Boxes },
  { to: '/settings/tiers', text: 'settings.tiers', Icon: Layers },
  { to: '/settings/tools', text: 'settings.tools', Icon: Wrench },
  { to: '/settings/usage', text: 'settings.usage', Icon: ChartColumn },
  { to: '/settings/tokens', text: 'settings.tokens', Icon: KeySquare },
  { to: '/settings/shares', text: 'settings.shares', Icon: Share2 },
  { to: '/settings/import-export', text: 'settings.moving', Icon: ArrowLeftRight },
];
export const administrationSections: readonly SettingsSection[] = [
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
];
