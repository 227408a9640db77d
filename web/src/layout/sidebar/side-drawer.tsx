import '../dialogs/dialogs.css';
import { Drawer } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useText } from '../../i18n/i18n.ts';
import classes from '../signed-in-frame.module.css';
import { Sidebar } from './sidebar.tsx';

/** The sidebar of narrow screens. */
export function SideDrawer({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const t = useText();
  // If opened before its code is loaded, it would start open and couldn't return the focus.
  const [isShown, setShown] = useState(false);
  useEffect(() => setShown(isOpen), [isOpen]);
  return (
    <Drawer.Root opened={isShown} onClose={onClose} size="min(19rem, 88vw)" padding={0}>
      <Drawer.Overlay />
      <Drawer.Content aria-label={t('nav.label')}>
        <Drawer.Body className={classes.drawer}>
          <Sidebar onClose={onClose} />
        </Drawer.Body>
      </Drawer.Content>
    </Drawer.Root>
  );
}
