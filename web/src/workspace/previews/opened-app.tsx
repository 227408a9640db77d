import 'virtual:texts/previews';
import type { DynamicToolPart } from '@homeport/contracts/chat/frames';
import { Button } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { AppWindow } from 'lucide-react';
import { useThreadActions } from '../../conversation/thread-actions.ts';
import { useText } from '../../i18n/i18n.ts';
import { readAppPath, readPort } from '../files/paths.ts';
import { textOf } from '../tool-output.ts';
import classes from './previews.module.css';

/** An app that a model has shown: it opens beside the conversation. */
export function OpenedApp({ part }: { part: DynamicToolPart }) {
  const t = useText();
  const navigate = useNavigate();
  const { chatId } = useThreadActions();
  const { output } = part;
  const port = readPort(typeof output === 'object' && output !== null ? Reflect.get(output, 'port') : undefined);
  if (port === undefined) return null;
  const at = readAppPath(textOf(output, 'path'));
  return (
    <div className={classes.opener}>
      <Button
        size="compact-md"
        variant="default"
        leftSection={<AppWindow size={15} aria-hidden />}
        onClick={() =>
          void navigate({
            to: '/c/$chatId',
            params: { chatId },
            search: { panel: 'workspace', port, at },
            resetScroll: false,
          })
        }
      >
        {textOf(output, 'title') || t('ports.openApp')}
      </Button>
    </div>
  );
}
