import type { Message } from '@homeport/contracts/conversations';
import { Button } from '@mantine/core';
import { CirclePause, CircleSlash, RotateCcw, StepForward, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { useThreadActions } from '../conversation/thread-actions.ts';
import { useText } from '../i18n.ts';
import classes from './message-view.module.css';

type Props = { message: Message; isLast: boolean; isRunning: boolean; isEmpty: boolean };

/** How an answer ended when it did not end well, and what to do about it. */
export function AnswerStatus({ message, isLast, isRunning, isEmpty }: Props) {
  const t = useText();
  const actions = useThreadActions();
  const { status, error, parentId } = message;
  if (status === 'streaming') return null;
  if (status === 'complete') return isEmpty ? <p className={classes.quiet}>{t('message.empty')}</p> : null;
  const canAct = isLast && !isRunning;
  const buttons = canAct ? (
    <>
      {isEmpty ? null : (
        <ActionButton
          icon={<StepForward size={15} aria-hidden />}
          label={t('message.continue')}
          onClick={() => actions.resume(message.id)}
        />
      )}
      {status === 'failed' && parentId !== null ? (
        <ActionButton
          icon={<RotateCcw size={15} aria-hidden />}
          label={t('message.retry')}
          onClick={() => actions.regenerate(parentId)}
        />
      ) : null}
    </>
  ) : null;
  if (status === 'failed') {
    return (
      <Problem title={t('message.failedText')} text={error?.message} code={error?.code}>
        {buttons}
      </Problem>
    );
  }
  const Icon = status === 'stopped' ? CircleSlash : CirclePause;
  return (
    <div className={classes.ended}>
      <Icon size={15} aria-hidden />
      <span>{t(status === 'stopped' ? 'message.stoppedText' : 'message.interruptedText')}</span>
      {buttons}
    </div>
  );
}

/** A failure at the place where it happened. */
export function Problem({
  title,
  text,
  code,
  children,
}: {
  title: string;
  text?: string | undefined;
  code?: string | undefined;
  children?: ReactNode;
}) {
  return (
    <div className={classes.problem}>
      <TriangleAlert size={17} aria-hidden className={classes.problemIcon} />
      <div className={classes.problemText}>
        <strong>{title}</strong>
        {text ? <p>{text}</p> : null}
        {code ? <code className={classes.code}>{code}</code> : null}
        {children ? <div className={classes.buttons}>{children}</div> : null}
      </div>
    </div>
  );
}

export function ActionButton({ icon, label, onClick }: { icon: ReactNode; label: string; onClick: () => void }) {
  return (
    <Button size="compact-sm" variant="default" leftSection={icon} onClick={onClick}>
      {label}
    </Button>
  );
}
