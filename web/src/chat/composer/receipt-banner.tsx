import { Button } from '@mantine/core';
import { RotateCcw, TriangleAlert } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { copyText } from '../../clipboard.ts';
import type { ReceiptState } from '../../conversation/receipts.ts';
import { failureText } from '../../i18n/failure-text.ts';
import { useText } from '../../i18n/i18n.ts';
import classes from './composer.module.css';

type Props = { pending: ReceiptState; onRetry: () => void; onDiscard: () => void };

/**
 * Banner for a submission with an unknown outcome or a conflict, with its only actions (control-plane-api.md
 * "Saved-message acknowledgement" 5).
 */
export function ReceiptBanner({ pending, onRetry, onDiscard }: Props) {
  const t = useText();
  const { receipt, sending, conflict, failure } = pending;
  const retry = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!sending) retry.current?.focus();
  }, [sending]);
  const discard = () => {
    void copyText(receipt.text);
    onDiscard();
  };
  return (
    <div role="alert" className={classes.receipt}>
      <TriangleAlert size={17} aria-hidden className={classes.receiptIcon} />
      <div className={classes.receiptText}>
        <strong>{t(conflict ? 'receipt.conflictTitle' : 'receipt.title')}</strong>
        <p>{t(conflict ? 'receipt.conflictText' : 'receipt.text')}</p>
        {failure && !conflict ? <p>{t('receipt.cause', { message: failureText(failure, t) })}</p> : null}
        <div className={classes.receiptButtons}>
          {conflict ? null : (
            <Button
              ref={retry}
              size="xs"
              leftSection={<RotateCcw size={14} aria-hidden />}
              loading={sending}
              onClick={onRetry}
            >
              {t('receipt.retry')}
            </Button>
          )}
          <Button ref={conflict ? retry : undefined} size="xs" variant="default" disabled={sending} onClick={discard}>
            {t(conflict ? 'receipt.discardCopy' : 'receipt.discard')}
          </Button>
        </div>
      </div>
    </div>
  );
}
