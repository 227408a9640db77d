import type { Message } from '@homeport/contracts/chat/conversations';
import { ActionIcon } from '@mantine/core';
import { Check, ChevronLeft, ChevronRight, Copy, Pencil, RotateCcw, ScanEye } from 'lucide-react';
import { type ReactNode, useRef } from 'react';
import { useCopy } from '../../clipboard.ts';
import { useThreadActions } from '../../conversation/thread-actions.ts';
import { dollars } from '../../dollars.ts';
import { numberLocale } from '../../i18n/format-locale.ts';
import { useText } from '../../i18n/i18n.ts';
import { Tip } from '../../layout/tip.tsx';
import { MessageTime } from './message-time.tsx';
import classes from './message-view.module.css';
import { RegenerateWith } from './regenerate-action.tsx';
import { copyRich } from './rich-copy.ts';

type Props = {
  message: Message;
  text: string;
  isRunning: boolean;
  isLast?: boolean;
  /** The way an answer ended comes with a button of its own to regenerate it. */
  hasRegenerate?: boolean;
  onEdit?: () => void;
};

/** The bar under a message. It always takes its room, so that showing it moves nothing. */
export function MessageActions({ message, text, isRunning, isLast, hasRegenerate, onEdit }: Props) {
  const t = useText();
  const actions = useThreadActions();
  const { isCopied, copy, report } = useCopy();
  const { parentId, role } = message;
  const bar = useRef<HTMLDivElement>(null);
  const copyMessage = () => {
    const parts = bar.current?.closest('article')?.querySelectorAll('[data-part="text"]');
    if (role === 'user' || !parts) copy(text);
    else report(copyRich(text, parts));
  };
  return (
    <div ref={bar} className={classes.actions} data-shown={isLast || undefined}>
      <Versions message={message} isRunning={isRunning} />
      {text === '' ? null : (
        <IconAction label={t(isCopied ? 'message.copied' : 'message.copy')} onClick={copyMessage}>
          {isCopied ? <Check size={15} /> : <Copy size={15} />}
        </IconAction>
      )}
      {onEdit ? (
        <IconAction label={t('message.edit')} onClick={onEdit} isDisabled={isRunning} action="edit">
          <Pencil size={15} />
        </IconAction>
      ) : null}
      {role === 'assistant' && parentId !== null && !hasRegenerate ? (
        <IconAction label={t('message.regenerate')} onClick={() => actions.regenerate(parentId)} isDisabled={isRunning}>
          <RotateCcw size={15} />
        </IconAction>
      ) : null}
      {role === 'assistant' && parentId !== null ? (
        <RegenerateWith messageId={parentId} isDisabled={isRunning} />
      ) : null}
      {role === 'assistant' ? (
        <IconAction label={t('message.saw')} onClick={() => actions.showContext(message.id)}>
          <ScanEye size={15} />
        </IconAction>
      ) : null}
      <UsageLine message={message} />
    </div>
  );
}

function Versions({ message, isRunning }: { message: Message; isRunning: boolean }) {
  const t = useText();
  const { selectBranch } = useThreadActions();
  const count = message.siblingIds.length;
  if (count < 2) return null;
  const index = message.siblingIds.indexOf(message.id);
  const step = (by: number) => {
    const id = message.siblingIds[index + by];
    return { isDisabled: isRunning || id === undefined, onClick: () => id !== undefined && selectBranch(id) };
  };
  return (
    <span className={classes.versions}>
      <IconAction label={t('message.previous')} {...step(-1)}>
        <ChevronLeft size={16} />
      </IconAction>
      <span aria-hidden>{t('message.versionShort', { index: index + 1, count })}</span>
      <span className="visually-hidden">{t('message.version', { index: index + 1, count })}</span>
      <IconAction label={t('message.next')} {...step(1)}>
        <ChevronRight size={16} />
      </IconAction>
    </span>
  );
}

/** Model and time of an answer; its tokens and cost appear when it is pointed at. */
function UsageLine({ message }: { message: Message }) {
  const t = useText();
  const { modelName } = useThreadActions();
  const { usage, modelId, assistant } = message;
  const model = modelId === undefined ? undefined : modelName(modelId);
  const cached = usage?.cachedInputTokens ?? 0;
  const written = usage?.cacheWriteTokens ?? 0;
  const reasoning = usage?.reasoningTokens ?? 0;
  const names = [
    ...(assistant ? [t('message.assistant', { name: assistant.name, version: assistant.version })] : []),
    ...(model === undefined ? [] : [model]),
  ];
  const counts = [
    ...(usage ? [t('message.usageOnly', { input: usage.inputTokens, output: usage.outputTokens })] : []),
    ...(cached === 0 ? [] : [t('message.cached', { cached })]),
    ...(written === 0 ? [] : [t('message.cacheWritten', { written })]),
    ...(reasoning === 0 ? [] : [t('message.reasoningTokens', { reasoning })]),
    ...(typeof usage?.cost === 'number' ? [dollars(usage.cost, numberLocale())] : []),
  ];
  return (
    <span className={classes.usage}>
      {names.map((name) => (
        <span key={name} className={classes.fact}>{`${name} · `}</span>
      ))}
      <span className={classes.fact}>
        <MessageTime at={message.createdAt} />
      </span>
      {counts.map((count) => (
        <span key={count} className={classes.fact} data-count>{` · ${count}`}</span>
      ))}
    </span>
  );
}

function IconAction({
  label,
  onClick,
  isDisabled,
  action,
  children,
}: {
  label: string;
  onClick: () => void;
  isDisabled?: boolean;
  action?: string;
  children: ReactNode;
}) {
  return (
    <Tip label={label}>
      <ActionIcon
        variant="subtle"
        color="gray"
        size={28}
        aria-label={label}
        onClick={onClick}
        disabled={isDisabled}
        data-action={action}
      >
        {children}
      </ActionIcon>
    </Tip>
  );
}
