import '../page-texts.ts';
import { Link, Outlet } from '@tanstack/react-router';
import { Boxes, Layers, Plug, UserRound, Wrench } from 'lucide-react';
import { useText } from '../i18n.ts';
import classes from './settings-page.module.css';

const sections = [
  { to: '/settings/account', text: 'settings.account', Icon: UserRound },
  { to: '/settings/providers', text: 'settings.providers', Icon: Plug },
  { to: '/settings/models', text: 'settings.models', Icon: Boxes },
  { to: '/settings/tiers', text: 'settings.tiers', Icon: Layers },
  { to: '/settings/tools', text: 'settings.tools', Icon: Wrench },
] as const;

/** `/settings/*`: the list of sections, and the chosen one. */
export function SettingsPage() {
  const t = useText();
  return (
    <div className={classes.page}>
      <nav aria-label={t('settings.label')} className={classes.nav}>
        <p className={classes.label} aria-hidden>
          {t('settings.label')}
        </p>
        <ul className={classes.sections}>
          {sections.map(({ to, text, Icon }) => (
            <li key={to}>
              <Link to={to} className={classes.link} activeProps={{ 'aria-current': 'page' }}>
                <Icon size={16} aria-hidden />
                {t(text)}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <main id="content" tabIndex={-1} className={classes.content}>
        <Outlet />
      </main>
    </div>
  );
}
