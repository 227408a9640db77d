import './dialogs.css';
import { limits } from '@homeport/contracts/limits';
import { Button, Modal } from '@mantine/core';
import { useState } from 'react';
import { useText } from '../../i18n/i18n.ts';
import classes from './confirm-dialog.module.css';
import { useReturnFocus } from './use-return-focus.ts';

type Props = { title: string; onDone: (title: string) => void; onClose: () => void };

/** Asks for a new title. Load it lazily. */
export function RenameDialog({ title, onDone, onClose }: Props) {
  const t = useText();
  useReturnFocus();
  const [text, setText] = useState(title);
  return (
    <Modal.Root opened onClose={onClose} size="sm">
      <Modal.Overlay />
      <Modal.Content>
        <Modal.Body>
          <Modal.Title className={classes.title}>{t('nav.rename')}</Modal.Title>
          <form
            onSubmit={(event) => {
              event.preventDefault();
              onDone(text.trim());
            }}
          >
            <input
              data-autofocus
              className={classes.field}
              aria-label={t('nav.renameLabel')}
              value={text}
              maxLength={limits.titleMax}
              onFocus={(event) => event.currentTarget.select()}
              onChange={(event) => setText(event.currentTarget.value)}
            />
            <div className={classes.buttons}>
              <Button variant="default" onClick={onClose}>
                {t('app.cancel')}
              </Button>
              <Button type="submit">{t('nav.rename')}</Button>
            </div>
          </form>
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}
