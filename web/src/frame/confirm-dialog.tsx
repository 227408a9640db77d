import './dialogs.css';
import { Button, Modal } from '@mantine/core';
import { useText } from '../i18n.ts';

type Props = { title: string; text: string; confirmLabel: string; onConfirm: () => void; onClose: () => void };

/** Asks before something that cannot be undone. Load it lazily: dialogs are no part of the first page load. */
export function ConfirmDialog({ title, text, confirmLabel, onConfirm, onClose }: Props) {
  const t = useText();
  return (
    <Modal opened onClose={onClose} title={title} size="sm">
      <p style={{ margin: '0 0 1.25rem', lineHeight: 1.55, overflowWrap: 'anywhere' }}>{text}</p>
      <div style={{ display: 'flex', flexWrap: 'wrap', gap: 8, justifyContent: 'flex-end' }}>
        <Button variant="default" onClick={onClose} data-autofocus>
          {t('app.cancel')}
        </Button>
        <Button color="red.9" onClick={onConfirm}>
          {confirmLabel}
        </Button>
      </div>
    </Modal>
  );
}
