import 'virtual:texts/mcp';
import type { McpServer, McpServerDetail } from '@homeport/contracts/mcp/mcp';
import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { Fragment, type ReactNode, useEffect, useMemo, useState } from 'react';
import { ApiFailure } from '../api/api-failure.ts';
import { Loading } from '../catalogue/catalogue-view.tsx';
import { FormFailure, Notice } from '../forms/notice.tsx';
import { failureText } from '../i18n/failure-text.ts';
import { useText } from '../i18n/i18n.ts';
import { FormDialog } from '../layout/dialogs/form-dialog.tsx';
import { EmptyState, Section } from '../layout/section.tsx';
import { showFailure } from '../layout/toasts.tsx';
import { type SignInResult, takeSignInResult } from './connect-button.tsx';
import { createMcpApi, mcpServersQuery } from './mcp-api.ts';
import { OfferedServers } from './offers/offered-servers.tsx';
import { offeredQuery, trustLine } from './offers/offers-api.ts';
import { ServerCard } from './server-card.tsx';
import { ServerForm } from './server-form.tsx';
import { ToolReview } from './tools/tool-review.tsx';
import { useServerChanges } from './use-server-changes.ts';

type Dialog =
  | {
      kind: 'form';
      server: McpServer | undefined;
      stored: McpServerDetail['headers'] | undefined;
      env?: McpServerDetail['env'];
    }
  | { kind: 'review'; server: McpServer };

type Props = {
  userId?: string;
  title: string;
  text: string;
  /** Content of the section below the servers. */
  children?: ReactNode;
};

/** The section of the MCP servers of the signed-in user or, with `userId`, of another user, with all actions. */
export function McpServersView({ userId, title, text, children }: Props) {
  const t = useText();
  const queries = useQueryClient();
  const { data, error, refetch } = useQuery({ ...mcpServersQuery(userId), refetchOnMount: 'always' });
  const offers = useQuery(offeredQuery);
  const api = useMemo(() => createMcpApi(userId), [userId]);
  const changes = useServerChanges(api, userId);
  const [dialog, setDialog] = useState<Dialog>();
  const close = () => setDialog(undefined);
  const [answer, setAnswer] = useState<SignInResult>();
  useEffect(() => setAnswer((known) => takeSignInResult() ?? known), []);
  const signedIn = answer && 'serverId' in answer ? data?.servers.find(({ id }) => id === answer.serverId) : undefined;

  const edit = async (server: McpServer) => {
    if (!server.hasHeaders && !server.hasEnv) return setDialog({ kind: 'form', server, stored: {} });
    try {
      const { headers, env } = await api.read(server.id);
      setDialog({ kind: 'form', server, stored: headers, env });
    } catch (failure) {
      const isUnreadable = failure instanceof ApiFailure && failure.code === 'credentials_unreadable';
      if (isUnreadable) setDialog({ kind: 'form', server, stored: undefined });
      else showFailure(t('settings.changeFailed'), failureText(failure, t));
    }
  };
  const onSaved = (saved: McpServer) => {
    void queries.invalidateQueries({ queryKey: mcpServersQuery(userId).queryKey });
    const needsReview = saved.trustState !== 'trusted' && saved.lastError === null;
    setDialog(needsReview ? { kind: 'review', server: saved } : undefined);
  };
  const add = (
    <Button
      leftSection={<Plus size={16} aria-hidden />}
      onClick={() => setDialog({ kind: 'form', server: undefined, stored: undefined })}
    >
      {t('mcp.add')}
    </Button>
  );

  // With a key it stays the same while the servers load, and so does what was typed there.
  const below = <Fragment key="below">{children}</Fragment>;

  if (error && !data) {
    return (
      <Section title={title} text={text}>
        <FormFailure failure={error} />
        <Button variant="default" onClick={() => void refetch()}>
          {t('app.retry')}
        </Button>
        {below}
      </Section>
    );
  }
  if (!data) {
    return (
      <Section title={title} text={text}>
        <Loading />
        {below}
      </Section>
    );
  }
  const { servers, canEdit } = data;
  const trustedBy = ({ offerId, trustedWithOffer }: McpServer) => {
    const offer = trustedWithOffer ? offers.data?.offers.find(({ id }) => id === offerId) : undefined;
    return offer && trustLine(offer, t);
  };
  return (
    <Section title={title} text={text} action={canEdit && servers.length > 0 ? add : undefined}>
      {canEdit ? null : <Notice kind="info">{t('mcp.readOnly')}</Notice>}
      {answer && 'problem' in answer ? (
        <Notice kind="warning" title={t('mcp.connectFailed')}>
          {t(`mcp.connectProblem.${answer.problem}`)}
        </Notice>
      ) : null}
      {signedIn ? (
        <Notice kind="info" title={t('mcp.connectedTitle', { name: signedIn.name })}>
          {t(signedIn.trustState === 'trusted' ? 'mcp.connectedReady' : 'mcp.connectedReview')}
        </Notice>
      ) : null}
      {servers.length === 0 ? (
        <EmptyState
          title={t('mcp.emptyTitle')}
          text={t(canEdit ? 'mcp.emptyText' : 'mcp.emptyReadOnly')}
          action={canEdit ? add : undefined}
        />
      ) : null}
      {servers.map((server) => (
        <ServerCard
          key={server.id}
          server={server}
          canEdit={canEdit}
          isOwn={userId === undefined}
          trustedBy={trustedBy(server)}
          changes={changes}
          onEdit={() => void edit(server)}
          onReview={() => setDialog({ kind: 'review', server })}
        />
      ))}
      <OfferedServers api={api} servers={servers} canEdit={canEdit} onAdded={onSaved} />
      {dialog?.kind === 'form' ? (
        <FormDialog
          title={dialog.server ? t('mcp.editTitle', { name: dialog.server.name }) : t('mcp.addTitle')}
          onClose={close}
        >
          {({ onDirty, cancel }) => (
            <ServerForm
              api={api}
              server={dialog.server}
              stored={dialog.stored}
              storedEnv={dialog.env}
              onSaved={onSaved}
              onDirty={onDirty}
              beside={cancel}
            />
          )}
        </FormDialog>
      ) : null}
      {dialog?.kind === 'review' ? (
        <ToolReview key={dialog.server.id} server={dialog.server} api={api} userId={userId} onClose={close} />
      ) : null}
      {below}
    </Section>
  );
}
