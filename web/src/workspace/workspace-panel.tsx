import './workspace-texts.ts';
import '../frame/dialogs.css';
import { ActionIcon, Drawer } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { Maximize2, X } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import fileClasses from '../files/files.module.css';
import { useText } from '../i18n.ts';
import { home, searchOf } from './paths.ts';
import classes from './workspace.module.css';
import { type WorkspacePlace, WorkspaceView } from './workspace-view.tsx';

const narrow = '(max-width: 68rem)';

/** The workspace beside a conversation: a column on wide screens, a drawer on narrow ones. */
export function WorkspacePanel({ onClose }: { onClose: () => void }) {
  const t = useText();
  // Above both forms: a window that becomes narrow keeps its place.
  const [place, setPlace] = useState<WorkspacePlace>({ tab: 'files', path: home });
  const content = <Content place={place} onPlace={setPlace} onClose={onClose} />;
  const isNarrow = useMediaQuery(narrow, window.matchMedia(narrow).matches, { getInitialValueInEffect: false });
  if (!isNarrow) {
    return (
      <aside className={fileClasses.panel} aria-label={t('workspace.title')}>
        {content}
      </aside>
    );
  }
  return (
    <Drawer.Root opened onClose={onClose} position="right" size="min(32rem, 100vw)" padding={0}>
      <Drawer.Overlay />
      <Drawer.Content aria-label={t('workspace.title')}>
        <Drawer.Body className={fileClasses.drawer}>{content}</Drawer.Body>
      </Drawer.Content>
    </Drawer.Root>
  );
}

type ContentProps = { place: WorkspacePlace; onPlace: (place: WorkspacePlace) => void; onClose: () => void };

function Content({ place, onPlace, onClose }: ContentProps) {
  const t = useText();
  const navigate = useNavigate();
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (document.activeElement === document.body) title.current?.focus({ preventScroll: true });
  }, []);
  return (
    <>
      <header className={fileClasses.panelHead}>
        <h2 className={fileClasses.panelTitle} ref={title} tabIndex={-1}>
          {t('workspace.title')}
        </h2>
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
        <ActionIcon
          variant="subtle"
          color="gray"
          size="lg"
          aria-label={t('workspace.close')}
          title={t('workspace.close')}
          onClick={onClose}
        >
          <X size={18} />
        </ActionIcon>
      </header>
      <div className={classes.panelBody}>
        <WorkspaceView {...place} onPlace={(change) => onPlace({ ...place, ...change })} />
      </div>
    </>
  );
}
