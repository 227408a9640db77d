import 'virtual:texts/mcp';
import { limits } from '@homeport/contracts/limits';
import { Button } from '@mantine/core';
import { Check, X } from 'lucide-react';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { useText } from '../../i18n/i18n.ts';
import { AlwaysAllow } from './always-allow.tsx';
import classes from './approval.module.css';

/** A person's decision; `remember` for the conversation, or permanently. */
export type ApprovalWord = { approved: boolean; reason?: string; remember?: 'conversation' | 'always' };

/** Allow and Deny take one click each; a reason, or a lasting decision, takes one more. */
export function ApprovalAnswer({
  toolName,
  canRemember,
  onAnswer,
}: {
  toolName: string;
  canRemember: boolean;
  onAnswer: (word: ApprovalWord) => void;
}) {
  const t = useText();
  const [shown, setShown] = useState<'buttons' | 'reason' | 'always'>('buttons');
  const back = () => setShown('buttons');
  if (shown === 'reason') {
    return <ReasonForm onDeny={(reason) => onAnswer({ approved: false, reason })} onBack={back} />;
  }
  if (shown === 'always') return <AlwaysAllow toolName={toolName} onAnswer={onAnswer} onBack={back} />;
  return (
    <div className={classes.buttons}>
      <Button size="xs" leftSection={<Check size={15} aria-hidden />} onClick={() => onAnswer({ approved: true })}>
        {t('approval.allow')}
      </Button>
      <Button
        size="xs"
        variant="default"
        leftSection={<X size={15} aria-hidden />}
        onClick={() => onAnswer({ approved: false })}
      >
        {t('approval.deny')}
      </Button>
      {canRemember ? (
        <Button size="xs" variant="subtle" color="gray" onClick={() => setShown('always')}>
          {t('approval.always')}
        </Button>
      ) : null}
      <Button size="xs" variant="subtle" color="gray" onClick={() => setShown('reason')}>
        {t('approval.denyWith')}
      </Button>
    </div>
  );
}

function ReasonForm({ onDeny, onBack }: { onDeny: (reason: string) => void; onBack: () => void }) {
  const t = useText();
  const [reason, setReason] = useState('');
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onDeny(reason.trim());
  };
  return (
    <form className={classes.buttons} onSubmit={submit}>
      <input
        ref={field}
        className={classes.reason}
        value={reason}
        maxLength={limits.approvalReasonMax}
        placeholder={t('approval.reason')}
        aria-label={t('approval.reason')}
        onChange={(event) => setReason(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          event.preventDefault();
          event.stopPropagation();
          onBack();
        }}
      />
      <Button type="submit" size="xs" color="red.9">
        {t('approval.deny')}
      </Button>
      <Button size="xs" variant="default" onClick={onBack}>
        {t('app.cancel')}
      </Button>
    </form>
  );
}
