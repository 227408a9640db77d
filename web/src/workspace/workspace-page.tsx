import 'virtual:texts/workspace';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useText } from '../i18n/i18n.ts';
import { useTitle } from '../layout/branding.ts';
import { home, searchOf } from './files/paths.ts';
import classes from './workspace.module.css';
import { WorkspaceView } from './workspace-view.tsx';

/** `/workspace`: the own workspace. */
export function WorkspacePage() {
  const t = useText();
  const navigate = useNavigate();
  const { tab = 'files', path = home, port, at = '/' } = useSearch({ from: '/signed-in/workspace' });
  const app = port === undefined ? undefined : { port, at };
  useTitle(t('workspace.title'));
  return (
    <main id="content" tabIndex={-1} className={classes.page}>
      <h1 className={classes.pageTitle}>{t('workspace.title')}</h1>
      <WorkspaceView
        tab={tab}
        path={path}
        app={app}
        onPlace={(place) => {
          void navigate({ to: '/workspace', search: searchOf({ tab, path, app, ...place }), resetScroll: false });
        }}
      />
    </main>
  );
}
