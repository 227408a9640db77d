import type { AccessToken, UserToken } from '@homeport/contracts/accounts/tokens';
import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import classes from '../admin/admin.module.css';
import { formatDay, formatTime } from '../admin/format.ts';
import { failureText } from '../i18n/failure-text.ts';
import { type Translate, useText } from '../i18n/i18n.ts';
import { ConfirmDialog } from '../layout/dialogs/confirm-dialog.tsx';
import { focusSectionTitle } from '../layout/section.tsx';
import { showFailure, showToast } from '../layout/toasts.tsx';

type Token = AccessToken & Partial<Pick<UserToken, 'user'>>;

/** Tokens with their use, each with a button that deletes it. */
export function TokenList({
  label,
  tokens,
  onDelete,
}: {
  label: string;
  tokens: readonly Token[];
  onDelete: (id: string) => Promise<unknown>;
}) {
  const t = useText();
  const queries = useQueryClient();
  const [deleting, setDeleting] = useState<Token>();
  if (tokens.length === 0) return null;
  const remove = async ({ id, name }: Token) => {
    setDeleting(undefined);
    try {
      await onDelete(id);
      showToast(t('tokens.deleted', { name }));
    } catch (failure) {
      showFailure(t('settings.changeFailed'), failureText(failure, t));
    }
    await queries.invalidateQueries({ queryKey: ['tokens'] });
    focusSectionTitle();
  };
  return (
    <>
      <ul className={classes.list} aria-label={label}>
        {tokens.map((token) => (
          <TokenRow key={token.id} token={token} onDelete={() => setDeleting(token)} />
        ))}
      </ul>
      {deleting ? (
        <ConfirmDialog
          title={t('tokens.deleteTitle', { name: deleting.name })}
          text={t('tokens.deleteText')}
          confirmLabel={t('tokens.delete')}
          onConfirm={() => void remove(deleting)}
          onClose={() => setDeleting(undefined)}
        />
      ) : null}
    </>
  );
}

function TokenRow({ token, onDelete }: { token: Token; onDelete: () => void }) {
  const t = useText();
  const { name, scopes, start, expiresAt, user } = token;
  const hasEnded = expiresAt !== null && Date.parse(expiresAt) <= Date.now();
  return (
    <li className={classes.row} data-off={hasEnded || undefined}>
      <div className={classes.about}>
        <div className={classes.name}>
          {name}
          {hasEnded ? (
            <span className={classes.badge} data-kind="plain">
              {t('tokens.ended')}
            </span>
          ) : null}
        </div>
        <div className={classes.detail}>
          {user ? <span>{user.name}</span> : null}
          <span>
            <code>{start}…</code>
          </span>
          <span>{scopes.join(', ')}</span>
          <span>{endText(token, t)}</span>
          <span>{useOf(token, t)}</span>
        </div>
      </div>
      <Button size="compact-sm" variant="subtle" aria-label={t('tokens.deleteNamed', { name })} onClick={onDelete}>
        {t('tokens.deleteAction')}
      </Button>
    </li>
  );
}

function endText({ expiresAt }: Token, t: Translate): string {
  return expiresAt === null ? t('tokens.noEnd') : t('tokens.until', { date: formatDay(expiresAt) });
}

function useOf({ lastUsedAt, lastUsedAddress }: Token, t: Translate): string {
  if (lastUsedAt === null) return t('tokens.unused');
  return t('tokens.used', { date: formatTime(lastUsedAt), address: lastUsedAddress ?? '' });
}
