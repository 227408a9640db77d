import { ActionIcon } from '@mantine/core';
import { ChevronDown } from 'lucide-react';
import { useText } from '../../i18n/i18n.ts';
import { lazyComponent } from '../../layout/lazy-component.tsx';
import { useMenu } from '../../layout/menus/use-menu.ts';

const RegenerateMenu = lazyComponent(async () => (await import('./regenerate-menu.tsx')).RegenerateMenu);

/** Answers a message again with a chosen model, for this answer only. */
export function RegenerateWith({ messageId, isDisabled }: { messageId: string; isDisabled: boolean }) {
  const t = useText();
  const { place, buttonProps } = useMenu(RegenerateMenu);
  return (
    <>
      <ActionIcon
        variant="subtle"
        color="gray"
        size={24}
        aria-label={t('message.regenerateWith')}
        title={t('message.regenerateWith')}
        disabled={isDisabled}
        {...buttonProps}
      >
        <ChevronDown size={13} />
      </ActionIcon>
      {place ? <RegenerateMenu {...place} messageId={messageId} /> : null}
    </>
  );
}
