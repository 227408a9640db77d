import { Menu, useMantineColorScheme } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { CircleHelp, LogOut, Settings } from 'lucide-react';
import { useClientSession } from '../../conversation/client-session.ts';
import { locales } from '../../i18n/choose-locale.ts';
import { useText } from '../../i18n/i18n.ts';
import { useLocale } from '../../i18n/locale.ts';
import { AnchoredMenu } from '../menus/anchored-menu.tsx';
import type { MenuPlace } from '../menus/use-menu.ts';
import { useSignOut } from '../sign-out.ts';
import classes from './account-menu.module.css';

const schemes = ['auto', 'light', 'dark'] as const;

/** Appearance, language, settings, the documentation and sign-out. Signing out keeps drafts and receipts. */
export function AccountMenuItems(place: MenuPlace) {
  const t = useText();
  const { user } = useClientSession();
  const signOut = useSignOut();
  return (
    <AnchoredMenu {...place} label={`${t('nav.account')} ${user.name}`} position="top-start" width={240} offset={6}>
      <div className={classes.identity}>{user.email}</div>
      <Menu.Divider />
      <ThemeSwitch />
      <Menu.Divider />
      <LanguageSwitch />
      <Menu.Divider />
      <Menu.Item component={Link} to="/settings" leftSection={<Settings size={15} />}>
        {t('nav.settings')}
      </Menu.Item>
      <Menu.Item component="a" href="/docs" target="_blank" rel="noopener" leftSection={<CircleHelp size={15} />}>
        {t('nav.help')}
      </Menu.Item>
      <Menu.Item leftSection={<LogOut size={15} />} onClick={() => void signOut()}>
        {t('nav.signOut')}
      </Menu.Item>
    </AnchoredMenu>
  );
}

function ThemeSwitch() {
  const t = useText();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Menu.RadioGroup
      value={colorScheme}
      onChange={(value) => setColorScheme(schemes.find((scheme) => scheme === value) ?? 'auto')}
    >
      <Menu.Label>{t('theme.label')}</Menu.Label>
      {schemes.map((scheme) => (
        <Menu.RadioItem key={scheme} value={scheme}>
          {t(`theme.${scheme}`)}
        </Menu.RadioItem>
      ))}
    </Menu.RadioGroup>
  );
}

function LanguageSwitch() {
  const t = useText();
  const { locale, setLocale } = useLocale();
  return (
    <Menu.RadioGroup
      value={locale}
      onChange={(value) => {
        const chosen = locales.find((other) => other.locale === value);
        if (chosen) void setLocale(chosen.locale);
      }}
    >
      <Menu.Label>{t('nav.language')}</Menu.Label>
      {locales.map((other) => (
        <Menu.RadioItem key={other.locale} value={other.locale} lang={other.locale}>
          {other.name}
        </Menu.RadioItem>
      ))}
    </Menu.RadioGroup>
  );
}
