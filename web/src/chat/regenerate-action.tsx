import { ActionIcon, Menu } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { ChevronDown } from 'lucide-react';
import { useState } from 'react';
import { useText } from '../i18n.ts';
import { catalogueQuery } from '../queries.ts';
import { groupByTier } from './model-choice.ts';
import { useThreadActions } from './thread-actions.ts';

/** Answers a message again with a model of one's choice, for this once. The menu exists while it is open. */
export function RegenerateWith({ messageId, isDisabled }: { messageId: string; isDisabled: boolean }) {
  const t = useText();
  const [isOpen, setOpen] = useState(false);
  const button = (
    <ActionIcon
      variant="subtle"
      color="gray"
      size={24}
      aria-label={t('message.regenerateWith')}
      aria-haspopup="menu"
      title={t('message.regenerateWith')}
      disabled={isDisabled}
      onClick={() => setOpen(true)}
    >
      <ChevronDown size={13} />
    </ActionIcon>
  );
  return isOpen ? <Models messageId={messageId} button={button} onClose={() => setOpen(false)} /> : button;
}

function Models({
  messageId,
  button,
  onClose,
}: {
  messageId: string;
  button: React.ReactElement;
  onClose: () => void;
}) {
  const t = useText();
  const { regenerate } = useThreadActions();
  const { data } = useQuery(catalogueQuery);
  return (
    <Menu opened onChange={(isOpen) => isOpen || onClose()} position="top-start" shadow="md" width={260}>
      <Menu.Target>{button}</Menu.Target>
      <Menu.Dropdown aria-label={t('message.regenerateWith')} mah="min(20rem, 50dvh)" style={{ overflowY: 'auto' }}>
        {groupByTier(data?.providers ?? [], data?.modelTiers ?? []).map((group) => (
          <div key={group.tier.value}>
            <Menu.Label>{group.tier.label}</Menu.Label>
            {group.models.map((model) => (
              <Menu.Item key={model.id} onClick={() => regenerate(messageId, model.id)}>
                {model.displayName}
              </Menu.Item>
            ))}
          </div>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
