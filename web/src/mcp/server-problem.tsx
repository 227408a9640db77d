import type { ReactNode } from 'react';
import { ApiFailure } from '../api/api-failure.ts';
import { Notice } from '../forms/notice.tsx';
import { failureText } from '../i18n/failure-text.ts';
import { useText } from '../i18n/i18n.ts';

/** Error message for a server that could not list its tools, with the remedy. */
export function ConnectionFailure({ failure, action }: { failure: unknown; action?: ReactNode }) {
  const t = useText();
  const code = failure instanceof ApiFailure ? failure.code : undefined;
  const text = failureText(failure, t);
  if (code === 'blocked_destination') {
    const settings = { private: 'ALLOW_PRIVATE_EGRESS=true', insecure: 'ALLOW_INSECURE_HTTP=true' };
    return (
      <Notice kind="failure" title={t('provider.blockedTitle')} action={action}>
        {t('provider.blockedText', settings)}
      </Notice>
    );
  }
  const origin = failure instanceof ApiFailure ? failure.credentialsOrigin : undefined;
  if (origin !== undefined) {
    return (
      <Notice kind="failure" title={t('provider.movedTitle')} action={action}>
        {t('provider.movedText', { origin })}
      </Notice>
    );
  }
  if (code === 'credentials_unreadable') {
    return (
      <Notice kind="failure" title={t('mcp.unreadableTitle')} action={action}>
        {t('mcp.unreadableText')}
      </Notice>
    );
  }
  return (
    <Notice kind="failure" title={t('mcp.unreachableTitle')} action={action}>
      {code === 'mcp_unreachable' ? `${text} ${t('mcp.unreachableHint')}` : text}
    </Notice>
  );
}
