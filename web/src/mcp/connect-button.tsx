import 'virtual:texts/mcp';
import { Button, type ButtonProps } from '@mantine/core';
import { LogIn } from 'lucide-react';
import { useState } from 'react';
import { call } from '../api/api.ts';
import { ApiFailure } from '../api/api-failure.ts';
import { failureText } from '../i18n/failure-text.ts';
import { type Translate, useText } from '../i18n/i18n.ts';
import { showFailure } from '../layout/toasts.tsx';

type Props = Pick<ButtonProps, 'size' | 'variant'> & { serverId: string; name?: string };

/** Leaves for the page where one signs in to an MCP server, which leads back to where the button was. */
export function ConnectButton({ serverId, name, ...look }: Props) {
  const t = useText();
  const [isBusy, setBusy] = useState(false);
  const connect = async () => {
    if (isBusy) return;
    setBusy(true);
    try {
      const returnTo = location.pathname + withoutAnswer(location.search);
      const { authorizeUrl } = await call('POST /api/mcp/connect', { body: { id: serverId, returnTo } });
      location.assign(authorizeUrl);
    } catch (failure) {
      setBusy(false);
      showFailure(t('mcp.connectFailed'), connectFailureText(failure, t));
    }
  };
  return (
    <Button
      size="compact-sm"
      {...look}
      leftSection={<LogIn size={15} aria-hidden />}
      aria-disabled={isBusy}
      onClick={() => void connect()}
    >
      {t(isBusy ? 'mcp.leaving' : 'mcp.connect')}
      {name === undefined ? null : <span className="visually-hidden"> {name}</span>}
    </Button>
  );
}

function connectFailureText(failure: unknown, t: Translate): string {
  return failure instanceof ApiFailure && failureReason(failure) === 'client_id'
    ? t('mcp.wantsClientId')
    : failureText(failure, t);
}

/** `details.reason` of a failure: the missing requirement. */
export function failureReason({ details }: ApiFailure): unknown {
  return typeof details === 'object' && details !== null ? Reflect.get(details, 'reason') : undefined;
}

export type SignInResult = { serverId: string } | { problem: 'denied' | 'state' | 'changed' | 'failed' };

/** Takes the result of an OAuth sign-in from the URL. Returns it only once. */
export function takeSignInResult(): SignInResult | undefined {
  const search = new URLSearchParams(location.search);
  const [serverId, error] = [search.get('mcp'), search.get('error')];
  const problem = (['denied', 'state', 'changed', 'failed'] as const).find((known) => error === `mcp_${known}`);
  if (serverId === null && problem === undefined) return undefined;
  history.replaceState(history.state, '', location.pathname + withoutAnswer(location.search) + location.hash);
  return problem === undefined ? { serverId: serverId ?? '' } : { problem };
}

function withoutAnswer(text: string): string {
  const search = new URLSearchParams(text);
  for (const name of ['mcp', 'error']) search.delete(name);
  return search.size === 0 ? '' : `?${search}`;
}
