import { type ProviderKind, providerKinds } from '@homeport/contracts/catalogue/provider-kinds';
import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { ApiFailure } from '../api/api-failure.ts';
import { FailureDetail, Notice } from '../forms/notice.tsx';
import { failureDetail } from '../i18n/error-texts.ts';
import { failureText } from '../i18n/failure-text.ts';
import { type Translate, useText } from '../i18n/i18n.ts';
import { unreachableHint } from './unreachable-hint.ts';
import type { ProviderTestState } from './use-provider-test.ts';

type Props = {
  state: ProviderTestState;
  baseUrl: string;
  action?: ReactNode;
  /** Takes over the protocol that answered instead of the chosen one. */
  onUseKind?: (kind: ProviderKind) => void;
  /** Takes over the base URL at which the test found a list. */
  onUseBaseUrl?: (baseUrl: string) => void;
};

/** Result of a provider test, with the remedy. */
export function ProviderTestResult({ state, baseUrl, action, onUseKind, onUseBaseUrl }: Props) {
  const t = useText();
  if (state.kind === 'found') return <Notice kind="success">{t('provider.ok', { count: state.models.length })}</Notice>;
  if (state.kind !== 'failed') return null;
  const { title, text } = explain(state.failure, baseUrl, t);
  const answered = answeredKind(state.failure);
  const use = answered && onUseKind && (
    <Button size="compact-sm" variant="default" onClick={() => onUseKind(answered)}>
      {t('provider.otherUse', { protocol: t(`provider.kind.${answered}`) })}
    </Button>
  );
  const found = foundBaseUrl(state.failure);
  const useFound = found !== undefined && onUseBaseUrl && (
    <Button size="compact-sm" variant="default" onClick={() => onUseBaseUrl(found)}>
      {t('provider.otherUse', { protocol: found })}
    </Button>
  );
  return (
    <Notice kind="failure" title={title} action={use ?? useFound ?? action}>
      {text}
      <FailureDetail text={state.failure instanceof ApiFailure ? failureDetail(state.failure) : undefined} />
    </Notice>
  );
}

/** The protocol of the server that is at the address, where the test found another one than the chosen. */
function answeredKind(failure: unknown): ProviderKind | undefined {
  const answered = failure instanceof ApiFailure ? readDetail(failure.details, 'answered') : undefined;
  return providerKinds.find((kind) => kind === answered);
}

/** The base URL with the version that was missing. */
function foundBaseUrl(failure: unknown): string | undefined {
  if (!(failure instanceof ApiFailure) || failure.code !== 'provider_error') return undefined;
  const found = readDetail(readDetail(failure.details, 'values'), 'baseUrl');
  return typeof found === 'string' && /^https?:\/\//.test(found) ? found : undefined;
}

function explain(failure: unknown, baseUrl: string, t: Translate): { title: string; text: string } {
  const text = failureText(failure, t);
  if (!(failure instanceof ApiFailure)) return { title: t('provider.testFailedTitle'), text };
  const answered = answeredKind(failure);
  if (answered) {
    const protocol = t(`provider.kind.${answered}`);
    return { title: t('provider.otherTitle'), text: t('provider.otherText', { protocol }) };
  }
  if (foundBaseUrl(failure) !== undefined) return { title: t('provider.versionTitle'), text };
  if (failure.code === 'provider_error') return explainStatus(failure, text, t);
  if (failure.code === 'blocked_destination') {
    const settings = { private: 'ALLOW_PRIVATE_EGRESS=true', insecure: 'ALLOW_INSECURE_HTTP=true' };
    return { title: t('provider.blockedTitle'), text: t('provider.blockedText', settings) };
  }
  if (failure.code === 'provider_unreachable') {
    const hint = unreachableHint(readDetail(failure.details, 'reason'), baseUrl);
    return { title: t('provider.unreachableTitle'), text: hint === undefined ? text : `${text} ${t(hint)}` };
  }
  if (failure.credentialsOrigin !== undefined) {
    return { title: t('provider.movedTitle'), text: t('provider.movedText', { origin: failure.credentialsOrigin }) };
  }
  if (failure.code === 'credentials_unreadable') {
    return { title: t('provider.unreadableTitle'), text: t('provider.unreadableText') };
  }
  return { title: t('provider.testFailedTitle'), text };
}

function explainStatus(failure: ApiFailure, text: string, t: Translate): { title: string; text: string } {
  const status = Number(readDetail(failure.details, 'status'));
  const reason = readDetail(failure.details, 'reason');
  // Used-up accounts answer 401, 403 and 429 as well, where waiting and another key don't help.
  if (reason === 'quota' || reason === 'credit') return { title: t('provider.usedUpTitle', { status }), text };
  if (status === 401 || status === 403) {
    return { title: t('provider.refusedTitle', { status }), text: t('provider.refusedText') };
  }
  if (status === 429) return { title: t('provider.busyTitle', { status }), text: t('provider.busyText') };
  // A 200 response that is not a list, such as a web page.
  if (status === 404 || status === 405 || (status >= 200 && status < 300)) {
    return { title: t('provider.noListTitle', { status }), text: t('provider.noListText') };
  }
  return { title: t('provider.failedTitle', { status }), text };
}

function readDetail(details: unknown, name: string): unknown {
  return typeof details === 'object' && details !== null ? Reflect.get(details, name) : undefined;
}
