import { ActionIcon } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { PanelLeft, SquarePen } from 'lucide-react';
import { useText } from '../../i18n/i18n.ts';
import classes from '../signed-in-frame.module.css';

/** The closed sidebar: a narrow rail of buttons. */
export function SideRail({ onOpen }: { onOpen: () => void }) {
  const t = useText();
  return (
    <aside aria-label={t('nav.side')} className={classes.rail}>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        aria-label={t('nav.open')}
        title={t('nav.open')}
        onClick={onOpen}
      >
        <PanelLeft size={19} />
      </ActionIcon>
      <ActionIcon
        component={Link}
        to="/"
        variant="subtle"
        color="gray"
        size="lg"
        aria-label={t('nav.newConversation')}
        title={t('nav.newConversation')}
      >
        <SquarePen size={18} />
      </ActionIcon>
    </aside>
  );
}
