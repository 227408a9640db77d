import './dialogs.css';
import { Button, Modal } from '@mantine/core';
import { useText } from '../../i18n/i18n.ts';
import classes from './confirm-dialog.module.css';
import { useReturnFocus } from './use-return-focus.ts';

type Props = {
  title: string;
  text: string;
  confirmLabel: string;
  /** A gentler alternative. */
  instead?: { label: string; run: () => void } | undefined;
  /** Nothing gets lost, so the button is not red. */
  isGentle?: boolean;
  onConfirm: () => void;
  onClose: () => void;
};

/** Asks before something that cannot be undone. Load it lazily: dialogs are not part of the first page load. */
export function ConfirmDialog({ title, text, confirmLabel, instead, isGentle = false, onConfirm, onClose }: Props) {
  const t = useText();
  useReturnFocus();
  return (
    <Modal.Root opened onClose={onClose} size={instead ? '38rem' : 'sm'}>
      <Modal.Overlay />
      <Modal.Content>
        <Modal.Body>
          <Modal.Title className={classes.title}>{title}</Modal.Title>
          <p className={classes.text}>{text}</p>
          <div className={classes.buttons}>
            {instead ? (
              <Button variant="subtle" className={classes.instead} onClick={instead.run}>
                {instead.label}
              </Button>
            ) : null}
            <Button variant="default" onClick={onClose} data-autofocus>
              {t('app.cancel')}
            </Button>
            <Button color={isGentle ? undefined : 'red.9'} onClick={onConfirm}>
              {confirmLabel}
            </Button>
          </div>
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}
