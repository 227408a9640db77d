import { CircleCheck, CircleMinus, CircleX } from 'lucide-react';
import { FormFailure, Notice } from '../../forms/notice.tsx';
import { useText } from '../../i18n/i18n.ts';
import classes from '../admin.module.css';
import type { OidcTestState } from './use-oidc-test.ts';

/** The checks of a test, each with its result. */
export function OidcChecks({ state }: { state: OidcTestState }) {
  const t = useText();
  if (state.kind === 'failed') return <FormFailure failure={state.failure} />;
  if (state.kind !== 'checked') return null;
  // Each check builds on the one before it.
  const failedAt = state.checks.findIndex(({ ok }) => !ok);
  return (
    <Notice kind={state.isOk ? 'success' : 'failure'} title={t(state.isOk ? 'sso.passed' : 'sso.failed')}>
      <ul className={classes.checks}>
        {state.checks.map(({ name, ok, message }, index) => (
          <li key={name} data-state={ok ? 'passed' : index === failedAt ? 'failed' : 'open'}>
            <Sign isOk={ok} isReason={index === failedAt} />
            <span>
              <b>{t(`sso.check.${name}`)}</b>
              <span className="visually-hidden">{t(ok ? 'sso.checkOk' : 'sso.checkFailed')}</span> {message}
            </span>
          </li>
        ))}
      </ul>
    </Notice>
  );
}

function Sign({ isOk, isReason }: { isOk: boolean; isReason: boolean }) {
  const Icon = isOk ? CircleCheck : isReason ? CircleX : CircleMinus;
  return <Icon size={16} aria-hidden />;
}
