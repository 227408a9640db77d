import './mcp-texts.ts';
import type { DynamicToolPart } from '@homeport/contracts/frames';
import { limits } from '@homeport/contracts/limits';
import { Button } from '@mantine/core';
import { Check, ShieldQuestion, X } from 'lucide-react';
import { type FormEvent, useEffect, useId, useRef, useState } from 'react';
import { call } from '../api.ts';
import { ApiFailure } from '../api-failure.ts';
import { useThreadActions } from '../conversation/thread-actions.ts';
import { failureText } from '../failure-text.ts';
import { useText } from '../i18n.ts';
import classes from './approval.module.css';
import { ShownText } from './shown-text.tsx';
import { toolTitle } from './tool-title.ts';

type State =
  | { kind: 'open' }
  | { kind: 'denying' }
  | { kind: 'sending' }
  | { kind: 'answered'; approved: boolean; reason: string }
  | { kind: 'elsewhere' };

/** A tool that waits for a person's word: what it is about to do, and the two answers. */
export function ToolApproval({ part, isLive }: { part: DynamicToolPart; isLive: boolean }) {
  const t = useText();
  const { chatId, follow } = useThreadActions();
  const [state, setState] = useState<State>({ kind: 'open' });
  const [failure, setFailure] = useState<unknown>();
  const titleId = useId();
  const { server, tool } = toolTitle(part.toolName);
  const approvalId = part.approval?.id;

  const answer = async (approved: boolean, reason = '') => {
    if (approvalId === undefined) return;
    setState({ kind: 'sending' });
    setFailure(undefined);
    try {
      const body = { approvalId, approved, ...(reason === '' ? {} : { reason }) };
      await call('POST /api/chat/:chatId/approvals', { params: { chatId }, body });
      setState({ kind: 'answered', approved, reason });
    } catch (error) {
      const code = error instanceof ApiFailure ? error.code : undefined;
      if (code === 'input_applied' || code === 'not_found') setState({ kind: 'elsewhere' });
      else {
        setFailure(error);
        setState({ kind: 'open' });
      }
    }
    follow();
  };

  return (
    <section className={classes.card} aria-labelledby={titleId} data-approval={approvalId}>
      <h3 className={classes.title} id={titleId}>
        <ShieldQuestion size={17} aria-hidden />
        {server === undefined ? t('approval.title', { tool }) : t('approval.titleOf', { tool, server })}
      </h3>
      <Input value={part.input} />
      {failure === undefined ? null : (
        <p role="alert" className={classes.failure}>
          {failureText(failure, t)}
        </p>
      )}
      {isLive ? (
        <Answer state={state} onChange={setState} onAnswer={(approved, reason) => void answer(approved, reason)} />
      ) : (
        <p className={classes.outcome}>{t('approval.ended')}</p>
      )}
    </section>
  );
}

function Answer({
  state,
  onChange,
  onAnswer,
}: {
  state: State;
  onChange: (state: State) => void;
  onAnswer: (approved: boolean, reason?: string) => void;
}) {
  const t = useText();
  if (state.kind === 'denying') {
    return <DenyForm onDeny={(reason) => onAnswer(false, reason)} onBack={() => onChange({ kind: 'open' })} />;
  }
  if (state.kind === 'open') {
    return (
      <div className={classes.buttons}>
        <Button size="xs" leftSection={<Check size={15} aria-hidden />} onClick={() => onAnswer(true)}>
          {t('approval.allow')}
        </Button>
        <Button
          size="xs"
          variant="default"
          leftSection={<X size={15} aria-hidden />}
          onClick={() => onChange({ kind: 'denying' })}
        >
          {t('approval.deny')}
        </Button>
      </div>
    );
  }
  return (
    <p role="status" className={classes.outcome}>
      {outcome(state, t)}
    </p>
  );
}

function outcome(state: State, t: ReturnType<typeof useText>): string {
  if (state.kind === 'sending') return t('approval.sending');
  if (state.kind !== 'answered') return t('approval.elsewhere');
  if (state.approved) return t('approval.allowed');
  return state.reason === '' ? t('approval.denied') : t('approval.deniedBecause', { reason: state.reason });
}

function DenyForm({ onDeny, onBack }: { onDeny: (reason: string) => void; onBack: () => void }) {
  const t = useText();
  const [reason, setReason] = useState('');
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onDeny(reason.trim());
  };
  return (
    <form className={classes.deny} onSubmit={submit}>
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
      <div className={classes.buttons}>
        <Button type="submit" size="xs" color="red.9">
          {t('approval.deny')}
        </Button>
        <Button size="xs" variant="default" onClick={onBack}>
          {t('app.cancel')}
        </Button>
      </div>
    </form>
  );
}

/** What the tool would be given, one line per member, with nothing hidden. */
function Input({ value }: { value: unknown }) {
  const t = useText();
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
  const entries = isRecord ? Object.entries(value) : [];
  if (value === undefined || (isRecord && entries.length === 0)) {
    return <p className={classes.outcome}>{t('approval.noInput')}</p>;
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section className={classes.input} tabIndex={0} aria-label={t('approval.input')}>
      {isRecord ? (
        <dl className={classes.members}>
          {entries.map(([name, each]) => (
            <div key={name} className={classes.member}>
              <dt className={classes.name}>
                <ShownText text={name} />
              </dt>
              <dd className={typeof each === 'string' ? classes.prose : classes.code}>
                <ShownText text={asText(each)} />
              </dd>
            </div>
          ))}
        </dl>
      ) : (
        <div className={classes.code}>
          <ShownText text={asText(value)} />
        </div>
      )}
    </section>
  );
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}
