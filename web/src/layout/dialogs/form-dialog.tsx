import './dialogs.css';
import '../../forms/switch.css';
import { Button, Modal } from '@mantine/core';
import { type ReactNode, useCallback, useRef, useState } from 'react';
import { useText } from '../../i18n/i18n.ts';
import { DiscardDialog, UnsavedGuard } from './unsaved-guard.tsx';
import { useReturnFocus } from './use-return-focus.ts';

/** Props for a form in a dialog: a callback for its dirty state, and its cancel button. */
export type DialogControls = { onDirty: (isDirty: boolean) => void; cancel: ReactNode };

/**
 * A form in a dialog. Closing it asks first if something was changed. If it shows something only once, it is `isFirm`:
 * no stray key or click closes it.
 */
export function FormDialog({
  title,
  isFirm = false,
  onClose,
  children,
}: {
  title: string;
  isFirm?: boolean;
  onClose: () => void;
  children: (controls: DialogControls) => ReactNode;
}) {
  const t = useText();
  useReturnFocus();
  const [isDirty, setDirty] = useState(false);
  const [isAsking, setAsking] = useState(false);
  // A ref, since a key after a change can come before the next render.
  const changed = useRef(false);
  const onDirty = useCallback((is: boolean) => {
    changed.current = is;
    setDirty(is);
  }, []);
  const leave = () => (changed.current ? setAsking(true) : onClose());
  const cancel = (
    <Button variant="default" onClick={leave}>
      {t('app.cancel')}
    </Button>
  );
  return (
    <>
      <Modal
        opened
        onClose={leave}
        title={title}
        size="38rem"
        closeOnClickOutside={!isDirty && !isFirm}
        closeOnEscape={!isAsking && !isFirm}
        trapFocus={!isAsking}
        attributes={{ content: { inert: isAsking } }}
      >
        {children({ onDirty, cancel })}
      </Modal>
      {isAsking ? <DiscardDialog onDiscard={onClose} onStay={() => setAsking(false)} /> : null}
      <UnsavedGuard isDirty={isDirty} />
    </>
  );
}
