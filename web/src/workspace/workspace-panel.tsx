import 'virtual:texts/workspace';
import { ActionIcon } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { Maximize2 } from 'lucide-react';
import { useState } from 'react';
import { useText } from '../i18n/i18n.ts';
import { SidePanel } from '../layout/panel/side-panel.tsx';
import { home, searchOf } from './files/paths.ts';
import type { AppPlace } from './previews/previews-api.ts';
import classes from './workspace.module.css';
import { type WorkspacePlace, WorkspaceView } from './workspace-view.tsx';

type Props = {
  /** The place that is shown first. */
  path: string | undefined;
  app: AppPlace | undefined;
  onClose: () => void;
};

/** The workspace beside a conversation. */
export function WorkspacePanel({ path = home, app, onClose }: Props) {
  const t = useText();
  const navigate = useNavigate();
  const [place, setPlace] = useState<WorkspacePlace>({ tab: app === undefined ? 'files' : 'apps', path, app });
  const openPage = (
    <ActionIcon
      onClick={() => void navigate({ to: '/workspace', search: searchOf(place) })}
      variant="subtle"
      color="gray"
      size="lg"
      aria-label={t('workspace.openPage')}
      title={t('workspace.openPage')}
    >
      <Maximize2 size={16} />
    </ActionIcon>
  );
  return (
    <SidePanel
      label={t('workspace.title')}
      closeLabel={t('workspace.close')}
      after={openPage}
      bodyClass={classes.panelBody}
      onClose={onClose}
    >
      <WorkspaceView {...place} onPlace={(change) => setPlace({ ...place, ...change })} />
    </SidePanel>
  );
}
