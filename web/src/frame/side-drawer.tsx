import './dialogs.css';
import { Drawer } from '@mantine/core';
import { useText } from '../i18n.ts';
import { Sidebar } from './sidebar.tsx';
import classes from './signed-in-frame.module.css';

/** The sidebar of narrow screens. */
export function SideDrawer({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const t = useText();
  return (
    <Drawer.Root opened={isOpen} onClose={onClose} size="min(19rem, 88vw)" padding={0}>
      <Drawer.Overlay />
      <Drawer.Content aria-label={t('nav.label')}>
        <Drawer.Body className={classes.drawer}>
          <Sidebar onClose={onClose} />
        </Drawer.Body>
      </Drawer.Content>
    </Drawer.Root>
  );
}
