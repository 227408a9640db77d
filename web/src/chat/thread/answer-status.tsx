import type { Message } from '@homeport/contracts/chat/conversations';
import { Button } from '@mantine/core';
import { Link as RouterLink } from '@tanstack/react-router';
import { CirclePause, CircleSlash, RotateCcw, StepForward, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { useThreadActions } from '../../conversation/thread-actions.ts';
import { FailureDetail } from '../../forms/notice.tsx';
import { failureDetail, hasPlainWording, wordFailure } from '../../i18n/error-texts.ts';
import { type TextId, useText } from '../../i18n/i18n.ts';
import { useAccess } from '../../layout/use-access.ts';
import { endingOf } from './answer-ending.ts';
import classes from './message-view.module.css';

type Props = { message: Message; isLast: boolean; isRunning: boolean; isEmpty: boolean };

/** How an answer ended when it did not end well, and what to do about it. */
export function AnswerStatus({ message, isLast, isRunning, isEmpty }: Props) {
  const t = useText();
  const actions = useThreadActions();
  const { status, error, parentId } = message;
  const isTooLong = error?.code === 'answer_too_long';
  const again = (
    <ActionButton
      icon={<RotateCcw size={15} aria-hidden />}
      label={t('message.retry')}
      onClick={() => parentId !== null && actions.regenerate(parentId)}
    />
  );
  if (status === 'streaming') return null;
  const canAct = isLast && !isRunning;
  if (status === 'complete') {
    const last = message.parts.at(-1);
    if (canAct && last?.type === 'data-notice' && isBudgetNotice(last.data)) {
      const icon = <StepForward size={15} aria-hidden />;
      return (
        <div className={classes.ended}>
          <ActionButton icon={icon} label={t('message.continue')} onClick={actions.goOn} />
        </div>
      );
    }
    const ending = endingOf(message);
    if (ending !== undefined) {
      return (
        <div className={classes.ended} data-ending={ending.text}>
          <span className={classes.endedText}>
            <TriangleAlert size={15} aria-hidden />
            <span>{t(ending.text)}</span>
          </span>
          <FailureDetail text={ending.detail} />
          {canAct && ending.canContinue ? (
            <ActionButton
              icon={<StepForward size={15} aria-hidden />}
              label={t('message.continue')}
              onClick={() => actions.resume(message.id)}
            />
          ) : null}
          {canAct && !ending.canContinue && parentId !== null ? again : null}
        </div>
      );
    }
    if (!isEmpty) return null;
    return (
      <div className={classes.ended}>
        <CircleSlash size={15} aria-hidden />
        <span>{t('message.empty')}</span>
        {canAct && parentId !== null ? (
          <ActionButton
            icon={<RotateCcw size={15} aria-hidden />}
            label={t('message.regenerate')}
            onClick={() => actions.regenerate(parentId)}
          />
        ) : null}
      </div>
    );
  }
  const buttons = canAct ? (
    <>
      {isEmpty ? null : (
        <ActionButton
          icon={<StepForward size={15} aria-hidden />}
          label={t('message.continue')}
          onClick={isTooLong ? actions.goOn : () => actions.resume(message.id)}
        />
      )}
      {(isEmpty || status === 'failed') && parentId !== null ? again : null}
    </>
  ) : null;
  if (status === 'failed') {
    return (
      <Problem
        title={t('message.failedText')}
        text={isTooLong ? t('message.tooLongText') : error && wordFailure(error)}
        detail={error && failureDetail(error)}
        code={error?.code}
      >
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

function isBudgetNotice(data: unknown): boolean {
  return typeof data === 'object' && data !== null && Reflect.get(data, 'code') === 'turn_budget';
}

/** The page on which the person can fix a failure of this kind. */
function helpFor(
  code: string,
  canEditTools: boolean,
): { to: '/settings/providers' | '/settings/models' | '/settings/tools'; text: TextId } | undefined {
  if (code.startsWith('mcp')) return canEditTools ? { to: '/settings/tools', text: 'message.helpTools' } : undefined;
  if (hasPlainWording()) return undefined;
  if (code.startsWith('model') || code === 'no_model') return { to: '/settings/models', text: 'message.helpModels' };
  const isProvider = code.startsWith('provider') || code.startsWith('credentials') || code.startsWith('egress');
  return isProvider ? { to: '/settings/providers', text: 'message.helpProviders' } : undefined;
}

/** A failure at the place where it happened, with the way to what helps. */
export function Problem({
  title,
  text,
  detail,
  code,
  children,
}: {
  title: string;
  text?: string | undefined;
  detail?: string | undefined;
  code?: string;
  children?: ReactNode;
}) {
  const t = useText();
  const { canEditTools } = useAccess();
  const help = code === undefined ? undefined : helpFor(code, canEditTools);
  return (
    <div className={classes.problem} data-code={code}>
      <TriangleAlert size={17} aria-hidden className={classes.problemIcon} />
      <div className={classes.problemText}>
        <strong>{title}</strong>
        {text ? <p>{text}</p> : null}
        <FailureDetail text={detail} />
        {children || help ? (
          <div className={classes.buttons}>
            {children}
            {help ? (
              <RouterLink to={help.to} className={classes.help}>
                {t(help.text)}
              </RouterLink>
            ) : null}
          </div>
        ) : null}
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
