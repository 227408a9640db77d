import 'virtual:texts/mcp';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useText } from '../../i18n/i18n.ts';
import { mcpServersQuery } from '../mcp-api.ts';
import { findTool } from '../tools/find-tool.ts';
import { toolTitle } from '../tools/tool-title.ts';
import classes from './approval.module.css';
import type { ApprovalWord } from './approval-answer.tsx';

type Props = { toolName: string; onAnswer: (word: ApprovalWord) => void; onBack: () => void };

/**
 * How long the tool may run without asking: in this conversation or everywhere, tools of servers for people who may
 * change those only. Of commands it is this very one.
 */
export function AlwaysAllow({ toolName, onAnswer, onBack }: Props) {
  const t = useText();
  const { data } = useQuery(mcpServersQuery());
  const first = useRef<HTMLButtonElement>(null);
  useEffect(() => first.current?.focus(), []);
  const isOfServer = toolTitle(toolName).server !== undefined;
  const canKeep = !isOfServer || (data?.canEdit === true && findTool(data.servers, toolName) !== undefined);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a few buttons, not the fields of a form
    <div className={classes.buttons} role="group" aria-label={t('approval.always')}>
      <Button
        ref={first}
        size="xs"
        variant="default"
        onClick={() => onAnswer({ approved: true, remember: 'conversation' })}
      >
        {t('approval.inConversation')}
      </Button>
      {canKeep ? (
        <Button size="xs" variant="default" onClick={() => onAnswer({ approved: true, remember: 'always' })}>
          {t('approval.everywhere')}
        </Button>
      ) : null}
      <Button size="xs" variant="subtle" color="gray" onClick={onBack}>
        {t('app.cancel')}
      </Button>
    </div>
  );
}
